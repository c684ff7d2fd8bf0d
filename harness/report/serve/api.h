// What `etalon serve` answers, apart from the network: read-only, and of one results file.
//
//   GET /                                    the page of `etalon report --format html`; ?run=ID
//   GET /report.md /report.csv /report.xml   the other formats; ?run=ID
//   GET /badge.svg                           a badge for a README; ?run=ID
//   GET /api/runs                            etalon.runs/1
//   GET /api/cases                           etalon.cases/1
//   GET /api/report?run=ID                   etalon.report/1
//   GET /api/page?run=ID                     etalon.page/1
//   GET /api/top?run=ID&limit=N&best=1       etalon.top/1
//   GET /api/roofline?run=ID                 etalon.roofline/1
//   GET /api/history?case=GLOB&limit=N       etalon.history/1
//   GET /api/findings                        etalon.findings/1
//   GET /api/gate?run=ID                     etalon.gate/1
//   GET /api/compare?a=SELECTION&b=SELECTION etalon.compare/1
//
// Anything else is 404. A bad parameter is 400, a file that cannot be read 500; both with
// {"error": one line}.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "harness/cost/card.h"
#include "harness/store/store.h"

namespace etalon::serve {

using Query = std::map<std::string, std::string>;

struct Target {
    std::string path;
    Query query;
};
// Percent-decoded. Throws a usage Error for what is no target: a bad escape, no leading slash, a
// parameter twice.
[[nodiscard]] Target parse_target(std::string_view target);

struct Answer {
    int status = 200;
    std::string type = "application/json", body;
};

// May be asked from several threads; each request opens the file anew and so sees what a running
// sweep has committed.
class Api {
   public:
    Api(std::string database, std::vector<cost::Card> cards);
    // Never throws.
    [[nodiscard]] Answer get(std::string_view target);

   private:
    struct Cached {
        std::string key;
        Answer answer;
    };
    Answer answer(const Target& target);
    // Pages and findings of a long history take seconds: the last few are kept while the file
    // stands still.
    Answer cached(const Target& target, const Store& store);

    std::string database_;
    std::vector<cost::Card> cards_;
    std::mutex mutex_;
    std::vector<Cached> cache_;
};

}  // namespace etalon::serve

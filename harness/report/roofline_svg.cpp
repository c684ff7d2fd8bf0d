#include "harness/report/roofline_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/report/text.h"
#include "harness/report/xml.h"

namespace etalon::report {
namespace {

constexpr double width = 900, height = 560, left = 70, right = 20, top = 60, bottom = 90;

// Whole decades from `least` to `greatest`, on a length in pixels.
struct LogAxis {
    int from = 0, to = 1;  // powers of ten

    LogAxis(double least, double greatest)
        : from(static_cast<int>(std::floor(std::log10(least)))),
          to(std::max(from + 1, static_cast<int>(std::ceil(std::log10(greatest))))) {}
    [[nodiscard]] double share(double value) const {
        return std::clamp((std::log10(value) - from) / (to - from), 0.0, 1.0);
    }
};

struct Plot {
    LogAxis x, y;

    [[nodiscard]] double px(double value) const {
        return left + x.share(value) * (width - left - right);
    }
    [[nodiscard]] double py(double value) const {
        return height - bottom - y.share(value) * (height - top - bottom);
    }
};

// Cividis in five steps, as on the page: even in lightness for every kind of colour vision.
std::string_view colour_of(double elasticity) {
    constexpr std::string_view colours[] = {"#00224e", "#414d6b", "#7c7b78", "#bcae6c", "#fee838"};
    return colours[std::clamp(static_cast<int>(std::lround(4 * elasticity)), 0, 4)];
}

std::string grid(const Plot& plot) {
    std::string out;
    for (int power = plot.x.from; power <= plot.x.to; ++power) {
        const double x = plot.px(std::pow(10.0, power));
        out += fmt::format(
            "<line x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\" stroke=\"#d0d7de\"/>"
            "<text x=\"{0:.1f}\" y=\"{3}\" text-anchor=\"middle\">{4:g}</text>\n",
            x, top, height - bottom, height - bottom + 18, std::pow(10.0, power));
    }
    for (int power = plot.y.from; power <= plot.y.to; ++power) {
        const double y = plot.py(std::pow(10.0, power));
        out += fmt::format(
            "<line x1=\"{1}\" y1=\"{0:.1f}\" x2=\"{2}\" y2=\"{0:.1f}\" stroke=\"#d0d7de\"/>"
            "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:g}</text>\n",
            y, left, width - right, left - 6, y + 4, std::pow(10.0, power));
    }
    return out;
}

std::string ceiling(const Plot& plot, const std::string& label, double gb_s, double tflops,
                    bool dashed) {
    const double from = std::pow(10.0, plot.x.from), to = std::pow(10.0, plot.x.to);
    const auto roof = [&](double intensity) { return std::min(intensity * gb_s / 1e3, tflops); };
    const double ridge = std::clamp(tflops * 1e3 / gb_s, from, to);
    return fmt::format(
        "<polyline fill=\"none\" stroke=\"{0}\" stroke-width=\"1.6\"{1} points=\"{2:.1f},{3:.1f} "
        "{4:.1f},{5:.1f} {6:.1f},{7:.1f}\"/><text x=\"{8}\" y=\"{9:.1f}\" text-anchor=\"end\" "
        "fill=\"{0}\">{10}</text>\n",
        dashed ? "#b34700" : "#17202a", dashed ? " stroke-dasharray=\"6 5\"" : "", plot.px(from),
        plot.py(roof(from)), plot.px(ridge), plot.py(roof(ridge)), plot.px(to), plot.py(roof(to)),
        width - right - 4, plot.py(roof(to)) - 4, xml_text(label));
}

std::string legend() {
    std::string out = fmt::format(
        "<text x=\"{}\" y=\"{}\">elasticity, how much of the time follows the clock:</text>\n",
        left, height - 16);
    constexpr std::string_view labels[] = {"0", "0.25", "0.5", "0.75", "1"};
    for (int i = 0; i < 5; ++i) {
        out += fmt::format(
            "<circle cx=\"{}\" cy=\"{}\" r=\"6\" fill=\"{}\" stroke=\"#17202a\"/>"
            "<text x=\"{}\" y=\"{}\">{}</text>\n",
            left + 330 + 70 * i, height - 20, colour_of(i / 4.0), left + 342 + 70 * i, height - 16,
            labels[i]);
    }
    return out;
}

}  // namespace

std::string roofline_svg(const Roofline& roofline, const DataSheet& sheet) {
    struct Dot {
        const RooflinePoint* point;
        double tflops;
    };
    std::vector<Dot> dots;
    double least_x = 1, greatest_x = 1000, least_y = 1, greatest_y = 10;
    for (const RooflinePoint& point : roofline.points) {
        const auto found = roofline.tflops.find(point.precision);
        const double tflops =
            found == roofline.tflops.end() ? 0 : point.compute_share * found->second.value;
        if (!(point.intensity > 0) || !(tflops > 0)) continue;
        dots.push_back({&point, tflops});
        least_x = std::min(least_x, point.intensity);
        greatest_x = std::max(greatest_x, point.intensity);
        least_y = std::min(least_y, tflops);
    }
    std::string ceilings;
    for (const auto& [precision, reached] : roofline.tflops) {
        greatest_y = std::max(greatest_y, reached.value);
        const auto printed = sheet.tflops.find(precision);
        if (printed != sheet.tflops.end()) greatest_y = std::max(greatest_y, printed->second);
    }
    const Plot plot{{least_x, greatest_x}, {least_y, greatest_y}};
    for (const auto& [precision, reached] : roofline.tflops) {
        if (roofline.memory_gbs.value > 0 && reached.value > 0) {
            ceilings += ceiling(plot, precision + " reached", roofline.memory_gbs.value,
                                reached.value, false);
        }
        const auto printed = sheet.tflops.find(precision);
        if (sheet.gb_s > 0 && printed != sheet.tflops.end()) {
            ceilings += ceiling(plot, precision + " data sheet", sheet.gb_s, printed->second, true);
        }
    }
    std::string out = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
        "height=\"{1}\" role=\"img\" font-family=\"DejaVu Sans,sans-serif\" font-size=\"12\" "
        "fill=\"#17202a\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n"
        "<text x=\"{2}\" y=\"26\" font-size=\"16\" font-weight=\"bold\">{3}</text>\n"
        "<text x=\"{2}\" y=\"46\">run {4} of {5}; solid: reached in this run; dashed: data "
        "sheet</text>\n",
        width, height, left, xml_text(roofline.gpu), xml_text(roofline.run.run_id),
        xml_text(minute(roofline.run.started_at)));
    out += grid(plot) + ceilings;
    for (const Dot& dot : dots) {
        const RooflinePoint& point = *dot.point;
        out += fmt::format(
            "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\" stroke=\"#17202a\" "
            "stroke-width=\"0.5\"><title>{}: {}, {} TFLOP/s, {} FLOP/B, elasticity "
            "{:.2f}</title></circle>\n",
            plot.px(point.intensity), plot.py(dot.tflops), colour_of(point.elasticity.value),
            xml_text(point.case_id), time_text(point.time_ns), significant(dot.tflops),
            significant(point.intensity, 3), point.elasticity.value);
    }
    return out +
           fmt::format(
               "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">FLOP a byte of least traffic"
               "</text>\n<text x=\"18\" y=\"{}\" text-anchor=\"middle\" transform=\"rotate(-90 18 "
               "{})\">TFLOP/s</text>\n",
               (left + width - right) / 2, height - bottom + 40, (top + height - bottom) / 2,
               (top + height - bottom) / 2) +
           legend() + "</svg>\n";
}

}  // namespace etalon::report

// HTTP/1.1 in front of the Api: GET and HEAD alone, small requests, short patience.
#pragma once

#include <memory>
#include <string>

#include "harness/report/serve/api.h"

namespace etalon::serve {

struct ServerOptions {
    std::string host = "127.0.0.1";  // an address, not a name
    unsigned short port = 8080;      // 0: any that is free
};

// Every answer forbids whatever its page does not need (content-security-policy), sniffing, framing
// and keeping. On a loopback address only requests that name it as their host are answered, so that
// a web site whose name is pointed there reads nothing.
class Server {
   public:
    // Listens when it returns. A usage Error where the address is none or is taken.
    Server(Api& api, const ServerOptions& options);
    ~Server();
    [[nodiscard]] std::string url() const;  // http://127.0.0.1:8080/
    void run();                             // until SIGINT or SIGTERM

   private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace etalon::serve

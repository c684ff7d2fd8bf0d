#include "harness/report/serve/server.h"

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <csignal>
#include <thread>
#include <vector>

#include "harness/core/error.h"
#include "harness/report/html/page_assets.h"

namespace etalon::serve {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = asio::ip::tcp;
using Request = http::request<http::empty_body>;
using Response = http::response<http::string_body>;

constexpr auto patience = std::chrono::seconds(30);
constexpr unsigned header_limit = 16U << 10;
constexpr int threads = 4;  // one slow page must not keep the others waiting

// The policy that the page carries in itself, and that nobody frames it.
std::string page_policy() {
    const std::string_view page = report::page_assets().before_data;
    constexpr std::string_view begin = "Content-Security-Policy\" content=\"";
    const std::size_t at = page.find(begin) + begin.size();
    return std::string(page.substr(at, page.find('"', at) - at)) + "; frame-ancestors 'none'";
}

// "127.0.0.1:8080", "[::1]:8080", "localhost": the host without its port.
std::string_view host_name(std::string_view host) {
    if (host.starts_with('[')) return host.substr(0, host.find(']') + 1);
    return host.substr(0, host.find(':'));
}

bool names_loopback(std::string_view host) {
    const std::string_view name = host_name(host);
    return name == "localhost" || name == "[::1]" || name.starts_with("127.");
}

Response respond(Api& api, const Request& request, bool loopback) {
    Answer answer;
    const bool head = request.method() == http::verb::head;
    const beast::string_view host = request[http::field::host];
    if (loopback && !names_loopback({host.data(), host.size()})) {
        answer = {421, "application/json", "{\"error\": \"this is not the host asked for\"}\n"};
    } else if (request.method() != http::verb::get && !head) {
        answer = {405, "application/json", "{\"error\": \"GET and HEAD alone\"}\n"};
    } else {
        answer = api.get({request.target().data(), request.target().size()});
    }
    Response response{static_cast<http::status>(answer.status), request.version()};
    response.set(http::field::server, "etalon");
    response.set(http::field::content_type, answer.type);
    response.set("Content-Security-Policy", answer.type.starts_with("text/html")
                                                ? page_policy()
                                                : "default-src 'none'; frame-ancestors 'none'");
    response.set("X-Content-Type-Options", "nosniff");
    response.set("Referrer-Policy", "no-referrer");
    response.set("Cross-Origin-Resource-Policy", "same-origin");
    response.set(http::field::cache_control, "no-store");
    if (answer.status == 405) response.set(http::field::allow, "GET, HEAD");
    response.keep_alive(request.keep_alive());
    const std::size_t size = answer.body.size();
    if (!head) response.body() = std::move(answer.body);
    response.content_length(size);
    return response;
}

// One connection; keeps itself alive through its handlers.
class Session : public std::enable_shared_from_this<Session> {
   public:
    Session(tcp::socket socket, Api& api, bool loopback)
        : stream_(std::move(socket)), api_(api), loopback_(loopback) {}

    void read() {
        parser_.emplace();
        parser_->header_limit(header_limit);
        parser_->body_limit(0);  // what is asked with a body is refused
        stream_.expires_after(patience);
        http::async_read(stream_, buffer_, *parser_,
                         [self = shared_from_this()](beast::error_code fault, std::size_t) {
                             self->answer(fault);
                         });
    }

   private:
    void answer(beast::error_code fault) {
        if (fault == http::error::body_limit) {
            Request post = parser_->get();
            response_ = respond(api_, post, loopback_);
            response_.keep_alive(false);
        } else if (fault) {
            return;  // gone, too slow, or no HTTP
        } else {
            response_ = respond(api_, parser_->get(), loopback_);
        }
        stream_.expires_after(patience);
        http::async_write(
            stream_, response_, [self = shared_from_this()](beast::error_code failed, std::size_t) {
                if (failed) return;
                if (self->response_.keep_alive()) {
                    self->read();
                } else {
                    self->stream_.socket().shutdown(tcp::socket::shutdown_send, failed);
                }
            });
    }

    beast::tcp_stream stream_;
    Api& api_;
    bool loopback_;
    beast::flat_buffer buffer_;
    std::optional<http::request_parser<http::empty_body>> parser_;
    Response response_;
};

}  // namespace

struct Server::Impl {
    Api& api;
    asio::io_context context{threads};
    tcp::acceptor acceptor{context};
    asio::signal_set signals{context, SIGINT, SIGTERM};
    bool loopback = true;

    explicit Impl(Api& of) : api(of) {}

    void accept() {
        acceptor.async_accept(
            asio::make_strand(context), [this](beast::error_code fault, tcp::socket socket) {
                if (!acceptor.is_open()) return;
                if (!fault) {
                    std::make_shared<Session>(std::move(socket), api, loopback)->read();
                }
                accept();
            });
    }
};

Server::Server(Api& api, const ServerOptions& options) : impl_(std::make_unique<Impl>(api)) {
    beast::error_code fault;
    const asio::ip::address address = asio::ip::make_address(options.host, fault);
    if (fault) {
        throw usage_error(fmt::format(
            "--host '{}' is not an address; write 127.0.0.1, or 0.0.0.0 for every interface",
            options.host));
    }
    impl_->loopback = address.is_loopback();
    try {
        const tcp::endpoint endpoint(address, options.port);
        impl_->acceptor.open(endpoint.protocol());
        impl_->acceptor.set_option(asio::socket_base::reuse_address(true));
        impl_->acceptor.bind(endpoint);
        impl_->acceptor.listen();
    } catch (const boost::system::system_error& error) {
        throw usage_error(fmt::format("cannot listen on {} port {}: {}; choose another --port",
                                      options.host, options.port, error.code().message()));
    }
    impl_->signals.async_wait([this](beast::error_code, int) {
        impl_->acceptor.close();
        impl_->context.stop();
    });
    impl_->accept();
}

Server::~Server() = default;

std::string Server::url() const {
    const tcp::endpoint endpoint = impl_->acceptor.local_endpoint();
    const std::string host = endpoint.address().to_string();
    return fmt::format("http://{}:{}/", endpoint.address().is_v6() ? "[" + host + "]" : host,
                       endpoint.port());
}

void Server::run() {
    std::vector<std::thread> others;
    for (int i = 1; i < threads; ++i) others.emplace_back([this] { impl_->context.run(); });
    impl_->context.run();
    for (std::thread& other : others) other.join();
}

}  // namespace etalon::serve

/// An HTTP/1.1 server with one path for each way to answer, good and bad.
///
/// Arguments: `tls`, `expired` (its certificate was valid until yesterday) or `plain`, and the name
/// in its certificate. Prints its port and its certificate's file, then `begin PATH` for each
/// request.
let webServerScript = #"""
    import atexit, gzip, http.server, os, shutil, socket, ssl, struct, subprocess, sys
    import tempfile, threading
    from urllib.parse import urlsplit

    KIND, NAME = sys.argv[1], sys.argv[2]
    folder = tempfile.mkdtemp(prefix="renewald-curl-")

    def leave():
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(0)

    def certificate():
        path = os.path.join(folder, "certificate.pem")
        key = os.path.join(folder, "key.pem")
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
             "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-keyout", key, "-out", path,
             "-subj", "/CN=" + NAME, "-addext", "subjectAltName=DNS:" + NAME],
            check=True, capture_output=True)
        if KIND == "expired":
            subprocess.run(
                ["openssl", "x509", "-in", path, "-signkey", key, "-days", "-1", "-out", path],
                check=True, capture_output=True)
        return path, key

    barrier = threading.Barrier(200)
    told = threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *ignored):
            pass

        def answer(self, status=200, body=b"", **headers):
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def until_closed(self):
            self.wfile.flush()
            self.rfile.read(1 << 20)
            self.close_connection = True

        def begin_body(self, announced):
            self.send_response(200)
            self.send_header("Content-Length", str(announced))
            self.end_headers()
            self.wfile.write(b"0123456789")
            self.wfile.flush()

        def do_POST(self):
            self.do_GET()

        def do_PUT(self):
            self.do_GET()

        def do_GET(self):
            path = urlsplit(self.path).path
            # One write: lines of two threads must not mix.
            print("begin " + path + "\n", end="", flush=True)
            getattr(self, "on_" + path.strip("/").replace("-", "_"))()

        def on_plain(self):
            self.answer(body=b"hello", content_type="Application/JSON; charset=UTF-8",
                        X_REQUEST_ID=" id-1 ")

        def on_apple(self):
            self.answer(X_Apple_Request_UUID="id-2")

        def on_echo(self):
            length = int(self.headers.get("Content-Length", 0))
            head = self.command + " " + self.path + "\n" + str(self.headers)
            self.answer(body=head.encode() + self.rfile.read(length))

        def on_redirect(self):
            self.answer(302, Location="/plain")

        def on_teapot(self):
            self.answer(418)

        def on_throttled(self):
            self.answer(429, rEtRy_aFtEr="120 ")

        def on_early(self):
            self.wfile.write(b"HTTP/1.1 103 Early Hints\r\nRetry-After: 9\r\nDate: x\r\n\r\n")
            self.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            self.wfile.write(b"2\r\nhi\r\n0\r\nRetry-After: 8\r\n\r\n")

        def on_stall_head(self):
            self.until_closed()

        def on_stall_body(self):
            self.begin_body(1000)
            self.until_closed()

        def on_drip(self):
            self.begin_body(1 << 20)
            try:
                while not told.wait(0.02):
                    self.wfile.write(b" ")
                    self.wfile.flush()
            except OSError:
                self.close_connection = True

        def on_big(self):
            self.answer(body=b"x" * 300000)

        def on_big_unannounced(self):
            self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 300000)
            self.close_connection = True

        def on_gzip(self):
            self.answer(body=gzip.compress(b"unpacked"), Content_Encoding="gzip")

        def on_bomb(self):
            self.answer(body=gzip.compress(bytes(16 << 20)), Content_Encoding="gzip")

        def on_broken_gzip(self):
            self.answer(body=b"not gzip at all", Content_Encoding="gzip")

        def on_cut(self):
            self.begin_body(1000)
            self.close_connection = True

        def on_reset(self):
            self.begin_body(1000)
            self.connection.setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            socket.socket.close(self.connection)
            self.close_connection = True

        def on_empty(self):
            self.close_connection = True

        def on_garbage(self):
            self.wfile.write(b"SSH-2.0-nothing\r\n" * 10)
            self.close_connection = True

        def on_long_head(self):
            self.wfile.write(b"HTTP/1.1 200 OK\r\n")
            for number in range(400):
                self.wfile.write(b"X-%d: %s\r\n" % (number, b"y" * 1000))
            self.wfile.write(b"\r\n")
            self.close_connection = True

        def on_held(self):
            told.wait()
            self.answer()

        def on_together(self):
            barrier.wait()
            self.answer()

    class Server(http.server.ThreadingHTTPServer):
        request_queue_size = 512
        daemon_threads = True

        def finish_request(self, request, address):
            if KIND != "plain":
                request = context.wrap_socket(request, server_side=True)
            super().finish_request(request, address)

        def handle_error(self, *ignored):
            pass

    path, key = certificate()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path, key)
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, path, flush=True)
    sys.stdin.readline()
    told.set()
    sys.stdin.read()
    leave()
    """#

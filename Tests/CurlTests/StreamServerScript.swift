/// An HTTP/2 server made by hand, which reads frames but no header: it can do what a proper one
/// never would.
///
/// Arguments: what it does with a stream, and a number for that.
///
/// - `together N`: answers when N streams are open, with the number of connections as the body
/// - `mute`: on the first connection nothing is answered, on others as `together 1`
/// - `reset CODE`: resets each stream with that error
/// - `goaway CODE`: tells the whole connection to go away, and closes it
/// - `die N`: closes the connection when it has N streams
///
/// Prints its port and its certificate's file, then `stream` for each one opened, `reset` for each
/// one that the client has reset, `closed` for each connection that is over.
let streamServerScript = #"""
    import asyncio, os, shutil, ssl, struct, subprocess, sys, tempfile, threading

    DEED, NUMBER = sys.argv[1], int(sys.argv[2])
    DATA, HEADERS, RESET, SETTINGS, PING, GOAWAY = 0, 1, 3, 4, 6, 7
    folder = tempfile.mkdtemp(prefix="renewald-curl-")
    connections = 0
    waiting = []

    def frame(kind, flags, stream, payload=b""):
        size = struct.pack(">I", len(payload))[1:]
        return size + struct.pack(">BBI", kind, flags, stream) + payload

    def answer(writer, stream):
        # 0x88 is ":status: 200" of HPACK's static table.
        writer.write(frame(HEADERS, 4, stream, b"\x88"))
        writer.write(frame(DATA, 1, stream, str(connections).encode()))

    def opened(writer, stream, connection, streams):
        print("stream", flush=True)
        if DEED == "together" or (DEED == "mute" and connection > 1):
            waiting.append((writer, stream))
            if len(waiting) >= (NUMBER if DEED == "together" else 1):
                for each in waiting:
                    answer(*each)
                waiting.clear()
        elif DEED == "reset":
            writer.write(frame(RESET, 0, stream, struct.pack(">I", NUMBER)))
        elif DEED == "goaway":
            writer.write(frame(GOAWAY, 0, 0, struct.pack(">II", 0, NUMBER)))
            writer.close()
        elif DEED == "die" and streams == NUMBER:
            writer.close()

    async def serve(reader, writer):
        global connections
        connections += 1
        connection, streams = connections, 0
        await reader.readexactly(24)
        # SETTINGS_MAX_CONCURRENT_STREAMS is 100.
        writer.write(frame(SETTINGS, 0, 0, struct.pack(">HI", 3, 100)))
        while not writer.is_closing():
            head = await reader.readexactly(9)
            kind, flags, stream = struct.unpack(">BBI", head[3:])
            payload = await reader.readexactly(int.from_bytes(head[:3], "big"))
            if kind == HEADERS:
                streams += 1
                opened(writer, stream, connection, streams)
            elif kind == RESET:
                print("reset", flush=True)
            elif kind in (SETTINGS, PING) and flags & 1 == 0:
                writer.write(frame(kind, 1, 0, payload if kind == PING else b""))

    async def guarded(reader, writer):
        try:
            await serve(reader, writer)
        except (OSError, EOFError):
            pass
        finally:
            print("closed", flush=True)
            writer.close()

    async def main():
        path = os.path.join(folder, "certificate.pem")
        key = os.path.join(folder, "key.pem")
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
             "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-keyout", key, "-out", path,
             "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
            check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path, key)
        context.set_alpn_protocols(["h2"])
        server = await asyncio.start_server(guarded, "127.0.0.1", 0, ssl=context, backlog=512)
        print(server.sockets[0].getsockname()[1], path, flush=True)
        await server.serve_forever()

    def leave_with_parent():
        sys.stdin.read()
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(0)

    threading.Thread(target=leave_with_parent, daemon=True).start()
    asyncio.run(main())
    """#

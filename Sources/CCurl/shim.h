#pragma once

#include <curl/curl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/prctl.h>
#include <sys/socket.h>

// curl_easy_setopt, curl_easy_getinfo and curl_multi_setopt are variadic, which Swift cannot
// call: one typed door for each kind of argument.

/// What libcurl calls with received bytes: the bytes, 1, their count, the context.
typedef size_t (*renewald_curl_receiver)(char *bytes, size_t one, size_t count, void *context);

static inline CURLcode renewald_curl_set_long(CURL *handle, CURLoption option, long value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode renewald_curl_set_offset(CURL *handle, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(handle, option, value);
}

/// libcurl copies the text.
static inline CURLcode renewald_curl_set_text(CURL *handle, CURLoption option, const char *value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode renewald_curl_set_pointer(CURL *handle, CURLoption option, void *value) {
  return curl_easy_setopt(handle, option, value);
}

/// libcurl copies `count` bytes, which may hold zeros. For NULL it would call for input instead.
static inline CURLcode renewald_curl_set_body(CURL *handle, const void *bytes, size_t count) {
  CURLcode code = curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)count);
  if (code != CURLE_OK)
    return code;
  return curl_easy_setopt(handle, CURLOPT_COPYPOSTFIELDS, bytes ? bytes : "");
}

/// libcurl does not copy the list: it must outlive the transfer.
static inline CURLcode renewald_curl_set_headers(CURL *handle, struct curl_slist *list) {
  return curl_easy_setopt(handle, CURLOPT_HTTPHEADER, list);
}

static inline CURLcode renewald_curl_set_receiver(CURL *handle, CURLoption option,
                                                  renewald_curl_receiver receiver) {
  return curl_easy_setopt(handle, option, receiver);
}

static inline CURLcode renewald_curl_get_long(CURL *handle, CURLINFO info, long *value) {
  return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode renewald_curl_get_pointer(CURL *handle, CURLINFO info, void **value) {
  return curl_easy_getinfo(handle, info, (char **)value);
}

static inline CURLMcode renewald_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}

/// The socket of the connection that the handle used last, or -1 when that is gone.
static inline curl_socket_t renewald_curl_socket(CURL *handle) {
  curl_socket_t socket = CURL_SOCKET_BAD;
  if (curl_easy_getinfo(handle, CURLINFO_ACTIVESOCKET, &socket) != CURLE_OK)
    return CURL_SOCKET_BAD;
  return socket;
}

/// For how many milliseconds a TCP socket has received nothing, or -1 when the kernel cannot tell.
static inline long renewald_tcp_silence_milliseconds(int socket) {
  struct tcp_info info;
  socklen_t size = sizeof info;
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
    return -1;
  return (long)info.tcpi_last_data_recv;
}

/// Names the calling thread for debuggers and `top`: up to 15 bytes.
static inline void renewald_name_this_thread(const char *name) { prctl(PR_SET_NAME, name); }

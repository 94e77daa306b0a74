/** Headers that frame and route a message, in lower case. Only core/net sets them (RFC 9110 §7.6.1, RFC 9112 §6). */
export const FRAMING_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

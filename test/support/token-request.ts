import type { TestResponse, TestServer } from './server.ts';

/** Sends a form to the token endpoint. The grant type is added if it is missing. */
export function requestToken(
  server: Pick<TestServer, 'call'>,
  form: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<TestResponse> {
  return server.call('POST', '/oauth/token', {
    token: null,
    body: new URLSearchParams({ grant_type: 'client_credentials', ...form }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  });
}

/** The header of client_secret_basic (RFC 6749 §2.3.1): both parts are form-encoded first. */
export function basicHeader(id: string, secret: string): { authorization: string } {
  const encode = (text: string) => new URLSearchParams({ '': text }).toString().slice(1);
  return { authorization: `Basic ${Buffer.from(`${encode(id)}:${encode(secret)}`).toString('base64')}` };
}

/** A response of the API. Its body has the type of the operation in `generated/api.d.ts`. */
export interface ApiResponse {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the example reads responses of several operations
  body: any;
}

export interface Valetkey {
  get(path: string): Promise<ApiResponse>;
  post(path: string, body: object): Promise<ApiResponse>;
}

/** How long before its end a token is replaced, in milliseconds. */
const MARGIN_MS = 60_000;

/** Calls Valetkey from the server of the application. The secret of its API client never reaches a browser. */
export function createValetkey(origin: string, client: { id: string; secret: string }): Valetkey {
  let token = { text: '', until: 0 };

  async function currentToken(): Promise<string> {
    if (Date.now() < token.until) return token.text;
    const form = { grant_type: 'client_credentials', client_id: client.id, client_secret: client.secret };
    const response = await fetch(`${origin}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) });
    if (!response.ok) throw new Error(`The token endpoint of Valetkey returned ${response.status}`);
    const granted = (await response.json()) as { access_token: string; expires_in: number };
    token = { text: granted.access_token, until: Date.now() + granted.expires_in * 1000 - MARGIN_MS };
    return token.text;
  }

  async function call(method: string, path: string, body?: object): Promise<ApiResponse> {
    const headers = { authorization: `Bearer ${await currentToken()}`, 'content-type': 'application/json' };
    const response = await fetch(`${origin}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    return { status: response.status, body: await response.json() };
  }

  return { get: (path) => call('GET', path), post: (path, body) => call('POST', path, body) };
}

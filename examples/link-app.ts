import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';

export interface LinkAppOptions {
  /** The address of Valetkey, and the API client of this application. */
  valetkey: string;
  client: { id: string; secret: string };
  /**
   * The address of this application. `${url}/verify` is on the environment's list of user_verify_urls, and `${url}/agents/login` is
   * its mcp_login_url.
   */
  url: string;
  /** What users can connect, by the name of the connection, with a tool that shows that it works. */
  offers: Record<string, { title: string; tool: string; input: object }>;
}

/**
 * The application's side of link and verification, and of logins for MCP clients. A user who is logged in clicks Connect and returns to
 * /verify. There the application's own session identifies the user, never a value in the URL.
 */
export function createLinkApp(options: LinkAppOptions): Server {
  const { offers, url } = options;
  const sessions = new Map<string, string>();

  return createServer((req, res) => {
    route(req, res).catch((error: Error) =>
      show(res, 500, `<h1>It did not work</h1><p>${escapeHtml(error.message)}</p>`),
    );
  });

  async function route(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(req.url ?? '/', url);
    const user = sessions.get(/\bsession=([\w-]+)/.exec(req.headers.cookie ?? '')?.[1] ?? '');
    const [, action = '', connector = ''] = /^\/(connect|run)\/([\w-]+)$/.exec(pathname) ?? [];
    // Other sites must not be able to submit these forms; browsers send the origin of a form.
    const isOurs = req.method === 'POST' && (req.headers.origin === undefined || req.headers.origin === url);

    if (pathname === '/login' && isOurs) return logIn(req, res);
    if (!user) return show(res, 200, loginForm(pathname === AGENT_LOGIN ? `${AGENT_LOGIN}?${searchParams}` : '/'));
    if (pathname === AGENT_LOGIN) return logInForAgent(res, user, searchParams);
    if (pathname === '/verify') return verify(res, user, searchParams);
    if (action === 'connect' && isOurs && offers[connector]) return connect(res, user, connector);
    if (action === 'run' && isOurs && offers[connector]) return run(res, user, connector);
    if (pathname === '/') return home(res, user);
    return show(res, 404, '<h1>There is no such page</h1>');
  }

  /** Accepts any name, because logging in is not the subject of this example. */
  async function logIn(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const form = new URLSearchParams(await readText(req));
    const user = form.get('user')?.trim() || 'ada';
    const next = form.get('next') ?? '/';
    const id = randomUUID();
    sessions.set(id, user);
    res.setHeader('set-cookie', `session=${id}; Path=/; HttpOnly; SameSite=Lax`);
    // No other address: a link could send the user anywhere after the login.
    redirect(res, next.startsWith(`${AGENT_LOGIN}?`) ? next : '/');
  }

  /** An MCP client asks who the user is. The session says it; the browser continues where the user decides about the client. */
  async function logInForAgent(res: ServerResponse, user: string, query: URLSearchParams): Promise<void> {
    const login = { login_request: query.get('login_request'), user_id: user, identifier: user };
    const { status, body } = await call('/api/v1/mcp/logins:complete', { ...login, user_verify_url: `${url}/verify` });
    if (status === 200) return redirect(res, body.continue_url);
    return show(res, status, `<h1>Not logged in</h1><p>${escapeHtml(body.detail)}</p>${HOME}`);
  }

  /** Requests a link for exactly this user, and redirects the browser to it. */
  async function connect(res: ServerResponse, user: string, connector: string): Promise<void> {
    const asked = { connector, user_id: user, identifier: user, user_verify_url: `${url}/verify` };
    const { status, body } = await call('/api/v1/connected_accounts/magic_link', asked);
    if (status !== 200) throw new Error(body.detail);
    redirect(res, body.link);
  }

  /** The return from the link. The session identifies the user; a user who finishes the link of another user is rejected here. */
  async function verify(res: ServerResponse, user: string, query: URLSearchParams): Promise<void> {
    const claim = { auth_request_id: query.get('auth_request_id'), identifier: user };
    const { status, body } = await call('/api/v1/connected_accounts/user/verify', claim);
    if (status === 200) return redirect(res, body.post_user_verify_redirect_url);
    return show(res, status, `<h1>Not connected</h1><p>${escapeHtml(body.detail)}</p>${HOME}`);
  }

  async function run(res: ServerResponse, user: string, connector: string): Promise<void> {
    const { tool, input } = offers[connector] as LinkAppOptions['offers'][string];
    const account = { connector, user_id: user, identifier: user };
    const { body } = await call('/api/v1/execute_tool', { ...account, tool_name: tool, tool_input: input });
    const text = JSON.stringify(body.data ?? body.detail, null, 2);
    show(res, 200, `<h1>${escapeHtml(tool)}</h1><pre>${escapeHtml(text)}</pre>${HOME}`);
  }

  function home(res: ServerResponse, user: string): void {
    const items = Object.entries(offers).map(([name, { title, tool }]) => {
      const button = (action: string, label: string) =>
        `<form method="post" action="/${action}/${name}"><button>${escapeHtml(label)}</button></form>`;
      return `<h2>${escapeHtml(title)}</h2>${button('connect', `Connect ${title}`)}${button('run', `Run ${tool}`)}`;
    });
    show(res, 200, `<h1>Hello, ${escapeHtml(user)}</h1>${items.join('')}`);
  }

  /** Calls Valetkey from the application's server. A token is valid for an hour; a real application would keep it. */
  // biome-ignore lint/suspicious/noExplicitAny: the types of every response are in generated/api.d.ts
  async function call(path: string, body: object): Promise<{ status: number; body: any }> {
    const { id: client_id, secret: client_secret } = options.client;
    const form = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret });
    const granted = await fetch(`${options.valetkey}/oauth/token`, { method: 'POST', body: form });
    const { access_token: token } = (await granted.json()) as { access_token: string };
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const answer = await fetch(`${options.valetkey}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: answer.status, body: await answer.json() };
  }
}

const HOME = '<p><a href="/">Back</a></p>';
const AGENT_LOGIN = '/agents/login';

/** @param next the address after the login */
function loginForm(next: string): string {
  return `<h1>An application</h1><form method="post" action="/login"><label>User name <input name="user" value="ada"></label>
<input type="hidden" name="next" value="${escapeHtml(next)}"><button>Log in</button></form>`;
}

function show(res: ServerResponse, status: number, content: string): void {
  const head =
    '<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>An application</title>';
  const style =
    '<style>body { font: 1rem/1.5 system-ui; max-width: 36rem; margin: 3rem auto; padding: 0 1rem }</style>';
  res.writeHead(status, { 'content-type': 'text/html; charset=utf-8' }).end(`${head}${style}${content}`);
}

function redirect(res: ServerResponse, location: string): void {
  res.writeHead(303, { location }).end();
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

async function readText(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

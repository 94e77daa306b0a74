import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { runAgent, type Step, TASKS } from './agent.ts';
import { codeRegions } from './code-regions.ts';
import { type ConnectionView, homePage, loginPage, messagePage, transcriptHtml } from './pages.ts';
import { createValetkey } from './valetkey.ts';

export interface AssistantOptions {
  /** The address of Valetkey, and the API client of this application. */
  valetkey: string;
  client: { id: string; secret: string };
  /**
   * The address of this application. `${url}/verify` is on the environment's list of user_verify_urls, and `${url}/agents/login` is
   * its mcp_login_url.
   */
  url: string;
  /** The connections that users can choose: the name and a title of each. */
  offers: Readonly<Record<string, string>>;
  /** Returns a one-time address of the console, for the person who tries this example. */
  consoleUrl(): Promise<string>;
}

const FOLDER = import.meta.dirname;
const FILES: Record<string, string> = { 'style.css': 'text/css', 'page.js': 'text/javascript' };
const CODE = ['app.ts', 'page.js', 'agent.ts'].flatMap((file) =>
  codeRegions(`examples/assistant/${file}`, readFileSync(join(FOLDER, file), 'utf8')),
);

/**
 * An application whose agent uses accounts of its users. It shows the application's side of links, verification, tool calls and
 * logins of MCP clients. Everything works without a script; with one, links open in a popup and the agent shows its steps live.
 */
export function createAssistant(options: AssistantOptions): Server {
  const { offers, url } = options;
  const valetkey = createValetkey(options.valetkey, options.client);
  const sessions = new Map<string, string>();

  return createServer((req, res) => {
    route(req, res).catch((error: Error) => {
      if (res.headersSent) res.destroy();
      else show(res, 500, messagePage('It did not work', error.message));
    });
  });

  async function route(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(req.url ?? '/', url);
    const user = sessions.get(/\bsession=([\w-]+)/.exec(req.headers.cookie ?? '')?.[1] ?? '');
    const [, action = '', name = ''] = /^\/(connect|run)\/([\w-]+)$/.exec(pathname) ?? [];
    // Other sites must not be able to submit these forms; browsers send the origin of a form.
    const isOurs = req.method === 'POST' && (req.headers.origin === undefined || req.headers.origin === url);

    if (FILES[pathname.slice(1)]) return sendFile(res, pathname.slice(1));
    if (pathname === '/login' && isOurs) return logIn(req, res);
    if (!user) return show(res, 200, loginPage(pathname === AGENT_LOGIN ? `${AGENT_LOGIN}?${searchParams}` : '/'));
    if (pathname === AGENT_LOGIN) return logInForAgent(res, user, searchParams);
    if (pathname === '/verify' && isOurs) return verifyFromPopup(req, res, user);
    if (pathname === '/verify') return verify(res, user, searchParams);
    if (action === 'connect' && isOurs && offers[name]) return connect(req, res, user, name);
    if (action === 'run' && isOurs && TASKS[name]) return run(req, res, user, name);
    if (pathname === '/manage' && isOurs) return openPortal(res, user);
    if (pathname === '/console' && isOurs) return redirect(res, await options.consoleUrl());
    if (pathname === '/logout' && isOurs) return logOut(req, res);
    if (pathname === '/') return home(res, user);
    return show(res, 404, messagePage('Page not found', 'This page does not exist.'));
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

  function logOut(req: IncomingMessage, res: ServerResponse): void {
    sessions.delete(/\bsession=([\w-]+)/.exec(req.headers.cookie ?? '')?.[1] ?? '');
    redirect(res, '/');
  }

  /** An MCP client asks who the user is. The session says it; the browser continues where the user decides about the client. */
  async function logInForAgent(res: ServerResponse, user: string, query: URLSearchParams): Promise<void> {
    const login = { login_request: query.get('login_request'), user_id: user, identifier: user };
    const completed = { ...login, user_verify_url: `${url}/verify` };
    const { status, body } = await valetkey.post('/api/v1/mcp/logins:complete', completed);
    if (status === 200) return redirect(res, body.continue_url);
    return show(res, status, messagePage('Not logged in', body.detail));
  }

  // #region Create a link for the user of the session
  async function connect(req: IncomingMessage, res: ServerResponse, user: string, connector: string): Promise<void> {
    const link = { connector, user_id: user, identifier: user, user_verify_url: `${url}/verify` };
    const { status, body } = await valetkey.post('/api/v1/connected_accounts/magic_link', link);
    if (status !== 200) throw new Error(body.detail);
    if (wantsJson(req)) sendJson(res, 200, { link: body.link });
    else redirect(res, body.link);
  }
  // #endregion

  // #region Verify who finished the link
  /** The session says who the user is, never the request: a link that another user has finished is rejected here. */
  async function verify(res: ServerResponse, user: string, query: URLSearchParams): Promise<void> {
    const claim = { auth_request_id: query.get('auth_request_id'), identifier: user };
    if (claim.auth_request_id === null) return show(res, 200, notConnected(query.get('error_description')));
    const { status, body } = await valetkey.post('/api/v1/connected_accounts/user/verify', claim);
    if (status === 200) return redirect(res, body.post_user_verify_redirect_url);
    return show(res, status, notConnected(body.detail));
  }

  async function verifyFromPopup(req: IncomingMessage, res: ServerResponse, user: string): Promise<void> {
    const claim = { auth_request_id: await readText(req), identifier: user };
    const { status, body } = await valetkey.post('/api/v1/connected_accounts/user/verify', claim);
    sendJson(res, status, status === 200 ? {} : { detail: body.detail });
  }
  // #endregion

  /** Runs the agent. A script reads each step as a line of JSON; without one, the page shows all steps at the end. */
  async function run(req: IncomingMessage, res: ServerResponse, user: string, task: string): Promise<void> {
    const { question, model } = TASKS[task] as (typeof TASKS)[string];
    const steps: Step[] = [];
    if (wantsJson(req)) res.writeHead(200, { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' });
    for await (const step of runAgent(model, user, valetkey)) {
      if (wantsJson(req)) res.write(`${JSON.stringify({ ...step, html: transcriptHtml([step], offers) })}\n`);
      steps.push(step);
    }
    if (wantsJson(req)) res.end();
    else show(res, 200, await homeOf(user, { question, steps }));
  }

  /** The user manages all accounts on a page of Valetkey. */
  async function openPortal(res: ServerResponse, user: string): Promise<void> {
    const session = { user_id: user, identifier: user, user_verify_url: `${url}/verify`, return_url: `${url}/` };
    const { status, body } = await valetkey.post('/api/v1/portal_sessions', session);
    if (status !== 201) throw new Error(body.detail);
    redirect(res, body.url);
  }

  async function home(res: ServerResponse, user: string): Promise<void> {
    show(res, 200, await homeOf(user));
  }

  async function homeOf(user: string, conversation?: { question: string; steps: Step[] }): Promise<string> {
    const connections = await connectionsOf(user);
    const tasks = Object.entries(TASKS).map(([name, { question }]) => ({ name, question }));
    return homePage({ user, valetkey: options.valetkey, connections, tasks, offers, conversation, code: CODE });
  }

  async function connectionsOf(user: string): Promise<ConnectionView[]> {
    const query = new URLSearchParams({ user_id: user, identifier: user });
    const { body } = await valetkey.get(`/api/v1/connected_accounts?${query}`);
    const accounts: { connector: string; status: string }[] = body.connected_accounts;
    return Object.entries(offers).map(([name, title]) => {
      const status = accounts.find(({ connector }) => connector === name)?.status ?? 'NONE';
      return { name, title, status };
    });
  }

  function show(res: ServerResponse, status: number, page: string): void {
    const sources = `default-src 'none'; script-src 'self' ${options.valetkey}; connect-src 'self' ${options.valetkey}; style-src 'self'`;
    res.writeHead(status, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `${sources}; img-src data:; base-uri 'none'; frame-ancestors 'none'`,
      'cache-control': 'no-store',
    });
    res.end(page);
  }
}

const AGENT_LOGIN = '/agents/login';

function notConnected(reason: string | null): string {
  return messagePage('Not connected', reason ?? '');
}

function wantsJson({ headers }: IncomingMessage): boolean {
  return headers.accept === 'application/json';
}

function sendJson(res: ServerResponse, status: number, body: object): void {
  res.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' }).end(JSON.stringify(body));
}

function sendFile(res: ServerResponse, name: string): void {
  res.writeHead(200, { 'content-type': FILES[name] }).end(readFileSync(join(FOLDER, name)));
}

function redirect(res: ServerResponse, location: string): void {
  res.writeHead(303, { location }).end();
}

async function readText(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

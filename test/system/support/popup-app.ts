import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verifyUser } from '../../support/links.ts';
import type { TestServer } from '../../support/server.ts';

/**
 * An application whose page opens links with `/connect.js`. It verifies the user of its session when the page sends an
 * auth_request_id, and when a user arrives at `user_verify_url`.
 */
export interface PopupApp {
  origin: string;
  verifyUrl: string;
  /** The link that the button opens. */
  link: string;
  /** The user who is logged in. */
  user: string;
  /** The auth_request_ids that the page sent, and those that arrived at `user_verify_url`. */
  sent: string[];
  arrived: string[];
  stop(): void;
}

const SCRIPT = `
const results = [];
addEventListener('message', ({ origin, data }) => results.push({ origin, data }));
document.querySelector('button').onclick = async () => {
  const result = document.querySelector('output');
  result.textContent = '';
  try {
    const outcome = await valetkey.connect(fetch('/link').then((response) => response.text()));
    if (outcome.auth_request_id) {
      const verified = await fetch('/finish', { method: 'POST', body: outcome.auth_request_id });
      outcome.verification = verified.status;
    }
    result.textContent = JSON.stringify(outcome);
  } catch (error) {
    result.textContent = String(error);
  }
};`;

/** @param serverOf the server whose script the page loads; the page has a strict policy */
export async function startPopupApp(serverOf: () => TestServer): Promise<PopupApp> {
  const text = (res: ServerResponse, status: number, body: string, type = 'text/plain') =>
    res.writeHead(status, { 'content-type': type, 'content-security-policy': policy() }).end(body);
  const policy = () => {
    const { origin } = serverOf();
    return `default-src 'none'; script-src 'self' ${origin}; connect-src 'self' ${origin}; img-src data:; frame-ancestors 'none'`;
  };
  const verify = async (id: string) => verifyUser(serverOf(), id, app.user);
  const server = createServer(async (req, res) => {
    const { pathname, searchParams } = new URL(req.url ?? '/', 'http://localhost');
    if (pathname === '/link') return text(res, 200, app.link);
    if (pathname === '/page.js') return text(res, 200, SCRIPT, 'text/javascript');
    if (pathname === '/finish') {
      const chunks: Buffer[] = [];
      for await (const chunk of req) chunks.push(chunk as Buffer);
      app.sent.push(Buffer.concat(chunks).toString());
      return text(res, (await verify(app.sent.at(-1) as string)).status, '');
    }
    if (pathname === '/verify') {
      const id = searchParams.get('auth_request_id');
      if (id === null) return text(res, 200, `Not connected: ${searchParams.get('error')}`);
      app.arrived.push(id);
      const { status, body } = await verify(id);
      if (status !== 200) return text(res, status, 'refused');
      return res.writeHead(302, { location: body.post_user_verify_redirect_url }).end();
    }
    const script = `<script src="${serverOf().origin}/connect.js"></script><script src="/page.js" defer></script>`;
    return text(
      res,
      200,
      `<!doctype html><html lang="en"><title>App</title><link rel="icon" href="data:,"><h1>App</h1>
<button>Connect</button><output></output>${script}`,
      'text/html',
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const app: PopupApp = {
    origin,
    verifyUrl: `${origin}/verify`,
    link: '',
    user: '',
    sent: [],
    arrived: [],
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
  return app;
}

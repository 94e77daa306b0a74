import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import type { OperatorRole } from '../../../db/store.ts';
import { freePort } from '../../../scripts/demo/process.ts';
import { offer } from '../../support/operators.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { json, startUpstream, type Upstream } from '../../support/upstream.ts';
import { launch, openPage, type Watched } from './connect-browser.ts';

/** A server with its console, a provider on this machine that it may reach, and a browser. */
export interface ConsoleWorld {
  server: TestServer;
  upstream: Upstream;
  browser: Browser;
  /** Logs an operator in, in a new browser context. */
  logIn(
    options?: BrowserContextOptions & { role?: OperatorRole },
  ): Promise<Watched & { go(path: string): Promise<Page> }>;
  stop(): Promise<void>;
}

export async function startConsoleWorld(env: Record<string, string> = {}): Promise<ConsoleWorld> {
  const upstream = await startUpstream(({ target }, res) => json(res, 200, { path: target, name: 'A note' }));
  const port = String(await freePort());
  const baseUrl = `http://127.0.0.1:${port}`;
  const server = await startTestServer({
    env: {
      PORT: port,
      METRICS_PORT: '0',
      BASE_URL: baseUrl,
      VALETKEY_EGRESS_ALLOW: `127.0.0.1:${upstream.port}`,
      ...env,
    },
  });
  const browser = await launch({});
  return {
    server,
    upstream,
    browser,
    async logIn({ role = 'OWNER', ...options } = {}) {
      const { token } = await offer(server, 'ada@acme.example', role);
      const watched = await openPage(browser, options);
      const { page } = watched;
      await page.goto(`${server.origin}/console/login#${token}`);
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
      return {
        ...watched,
        async go(path) {
          await page.goto(`${server.origin}/console${path}`);
          await page.getByRole('heading', { level: 1 }).waitFor();
          return page;
        },
      };
    },
    async stop() {
      await browser.close();
      await server.stop();
      await upstream.stop();
    },
  };
}

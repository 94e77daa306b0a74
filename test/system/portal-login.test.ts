import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { freePort } from '../../scripts/demo/process.ts';
import { type AuthorizationServer, startAuthorizationServer } from '../support/authorization-server.ts';
import { type PortalWorld, startPortalWorld } from '../support/portal.ts';
import { launch, openPage, violations } from './support/connect-browser.ts';

const CLIENT = { client_id: 'valetkey', client_secret: 'secret-of-valetkey' };

describe('the login to the portal at the company, in a browser', () => {
  let company: AuthorizationServer;
  let world: PortalWorld;
  let browser: Browser;

  before(async () => {
    const localPort = await freePort();
    company = await startAuthorizationServer({
      localPort,
      claimsOf: (login) => ({ email: `${login}@acme.test`, email_verified: true, name: 'org_acme' }),
    });
    world = await startPortalWorld({
      env: { VALETKEY_EGRESS_ALLOW: `127.0.0.1:${localPort}` },
      // The provider puts the time of the machine into its tokens, so the server must use the same clock.
      overrides: { now: Date.now },
    });
    const callback = `${world.server.origin}/portal/login/callback`;
    await company.register({ ...CLIENT, redirect_uris: [callback] });
    const claims = { identifier: 'email', user_id: 'sub', organization_id: 'name' };
    const body = { type: 'OIDC', issuer: company.issuer, ...CLIENT, claims, allowed_organizations: ['org_acme'] };
    const answer = await world.server.call('PUT', '/api/v1/mcp/login_provider', { body });
    if (answer.status !== 200) throw new Error(answer.text);
    browser = await launch({});
  });
  after(async () => {
    await browser?.close();
    await world?.stop();
    await company?.stop();
  });

  const at = (path: string) => `${world.server.origin}${path}`;

  for (const javaScriptEnabled of [true, false]) {
    it(`shows users their own accounts, and ends with a logout, ${javaScriptEnabled ? 'with' : 'without'} JavaScript`, async () => {
      const login = javaScriptEnabled ? 'ada' : 'grace';
      const owner = { organization_id: 'org_acme', user_id: login, identifier: `${login}@acme.test` };
      await world.account(owner, { display_name: `Notes of ${login}` });
      const bob = { organization_id: 'org_acme', user_id: 'bob', identifier: `bob-${login}@acme.test` };
      await world.account(bob, { display_name: `Desk of ${login}` });
      const { page, complaints, hosts } = await openPage(browser, { javaScriptEnabled });
      await page.goto(at('/portal'));
      if (javaScriptEnabled) expect(await violations(page)).to.deep.equal([]);
      await page
        .getByRole('link', { name: 'Log in' })
        .or(page.getByRole('button', { name: 'Log in' }))
        .click();
      await page.getByLabel('User name').fill(login);
      await page.getByRole('button', { name: 'Allow' }).click();
      await page.getByRole('heading', { level: 1, name: 'Your connections' }).waitFor();
      expect(page.url()).to.equal(at('/portal'));
      const accounts = page.getByRole('region', { name: 'Connected accounts' });
      expect(await accounts.innerText())
        .to.include(`Notes of ${login}`)
        .and.include(`${login}@acme.test`);
      expect(await page.locator('main').innerText()).not.to.include('bob-');
      await accounts.getByText('Disconnect', { exact: true }).first().click();
      await accounts.getByRole('button', { name: 'Disconnect' }).click();
      await page.getByRole('status').filter({ hasText: 'The account is disconnected.' }).waitFor();
      await page.getByRole('button', { name: 'Log out' }).click();
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.goto(at('/portal'));
      expect(await page.locator('main').innerText()).not.to.include(`${login}@acme.test`);
      expect(hosts()).to.have.members([new URL(world.server.origin).host, new URL(company.issuer).host]);
      expect(complaints).to.deep.equal([]);
      await page.context().close();
    });
  }

  it('says that the login did not work to a user who declines, who can try again', async () => {
    const { page } = await openPage(browser);
    await page.goto(at('/portal/login'));
    await page.getByLabel('User name').fill('ada');
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByText('The login did not work.').waitFor();
    expect(await violations(page)).to.deep.equal([]);
    await page
      .getByRole('link', { name: 'Log in' })
      .or(page.getByRole('button', { name: 'Log in' }))
      .click();
    await page.waitForURL((url) => url.origin === company.issuer);
    await page.context().close();
  });

  it('keeps no session in a browser that opens the callback of another', async () => {
    const [ada, eve] = [await openPage(browser), await openPage(browser)];
    await ada.page.goto(at('/portal/login'));
    await ada.page.getByLabel('User name').fill('ada');
    const callback = /\/portal\/login\/callback/;
    await ada.page.route(callback, (route) => route.abort());
    const arrived = ada.page.waitForRequest(callback);
    await ada.page.getByRole('button', { name: 'Allow' }).click();
    await eve.page.goto((await arrived).url());
    await eve.page.getByText('The login did not work.').waitFor();
    await eve.page.goto(at('/portal'));
    await eve.page.getByText('Log in to see and manage your connected accounts.').waitFor();
    for (const { page } of [ada, eve]) await page.context().close();
  });
});

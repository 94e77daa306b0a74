import { expect } from 'chai';
import { type Dispatcher, request } from 'undici';
import { browserFor, makeLink, startLinkServer } from '../support/links.ts';
import type { TestServer } from '../support/server.ts';

describe('the icons of connectors', () => {
  let server: TestServer;
  let providers: { identifier: string; icon_src: string }[];

  before(async () => {
    server = await startLinkServer();
    providers = (await server.call('GET', '/api/v1/providers?is_custom=false&page_size=100')).body.providers;
  });
  after(() => server.stop());

  async function get(address: string, method: Dispatcher.HttpMethod = 'GET') {
    const { statusCode: status, headers, body } = await request(address, { method });
    return { status, headers, text: await body.text() };
  }

  it('are at the icon_src of every built-in provider, as images without scripts that are cached forever', async () => {
    expect(providers).to.have.length.greaterThan(80);
    for (const { identifier, icon_src: address } of providers) {
      expect(address).to.match(new RegExp(`^${server.origin}/icons/${identifier}\\.svg\\?v=[\\w-]{10}$`));
      const { status, headers, text } = await get(address);
      expect([status, headers['content-type'], headers['cache-control']], identifier).to.deep.equal([
        200,
        'image/svg+xml',
        'max-age=31536000, immutable',
      ]);
      expect(headers).to.include({
        'content-security-policy': "default-src 'none'; sandbox",
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'cross-origin',
      });
      const shape =
        /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" viewBox="0 0 48 48" width="48" height="48"><rect [^<>]*\/>/;
      expect(text, identifier).to.match(shape);
      expect(text.replace(shape, ''), identifier).to.match(
        /^(<path transform="[^"]*" fill="#\w{6}" d="[A-Za-z0-9 ,.-]+"\/>|<text [^<>]*>[A-Z]<\/text>)<\/svg>\n$/,
      );
    }
  });

  it('are cached for an hour without their version, or with another one', async () => {
    for (const path of ['/icons/github.svg', '/icons/github.svg?v=old']) {
      const { status, headers } = await get(`${server.origin}${path}`);
      expect([status, headers['cache-control']], path).to.deep.equal([200, 'max-age=3600']);
    }
  });

  it('do not exist for other names', async () => {
    for (const name of ['nothing.svg', 'github', 'github.png', '..%2fgithub.svg', 'constructor.svg', '%ff']) {
      expect((await get(`${server.origin}/icons/${name}`)).status, name).to.equal(404);
    }
    expect((await get(`${server.origin}/icons/github.svg`, 'POST')).status).to.equal(405);
  });

  it('are on the page of a link, beside the logo of the application', async () => {
    const link = await makeLink(server, { connector: 'stripe' });
    const { text } = await browserFor().open(link);
    const icon = new URL(providers.find(({ identifier }) => identifier === 'stripe')?.icon_src ?? '');
    expect(text).to.match(/<span class="mark letter">\w<\/span><svg class="between"/);
    expect(text).to.include(`<span class="mark tile"><img src="${icon.pathname}${icon.search}" alt=""`);
  });
});

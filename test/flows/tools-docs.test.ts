import { expect } from 'chai';
import { execute } from '../support/execute.ts';
import { createKeyedAccount, KEYED_ORIGIN } from '../support/keyed-api.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import type { Upstream } from '../support/upstream.ts';
import { json, startUpstream } from '../support/upstream.ts';
import { blocksOf, readPage } from './markdown.ts';

const PAGE = readPage('docs/tools.md');

describe('docs/tools.md', () => {
  let acme: Upstream;
  let server: TestServer;

  before(async () => {
    acme = await startUpstream((_request, res) =>
      json(res, 200, { deals: [{ id: 1, name: 'Doors', internal: 'x' }], meta: { next: 'c2' } }),
    );
    server = await startTestServer({ env: { VALETKEY_ENDPOINT_OVERRIDES: acme.endpointOverride(KEYED_ORIGIN) } });
  });
  after(async () => {
    await server.stop();
    await acme.stop();
  });

  it('shows a tool that can be created and run', async () => {
    const { id, provider } = await createKeyedAccount(server);
    const [block] = blocksOf(PAGE).filter(({ language }) => language === 'json');
    const prefix = provider.identifier.replaceAll('-', '_');
    const body = { ...JSON.parse(block?.text ?? ''), connector: provider.identifier, name: `${prefix}_list_deals` };
    const created = await server.call('POST', '/api/v1/tools', { body });
    expect(created.status, created.text).to.equal(201);
    const answer = await execute(server, id, body.name, { stage: 'open' });
    expect(answer.body.data, answer.text).to.deep.equal([{ id: 1, name: 'Doors' }]);
    expect(acme.requests.at(-1)?.target).to.equal('/deals?stage=open&limit=20');
    await execute(server, id, body.name, { stage: 'open', cursor: answer.body.next_cursor });
    expect(acme.requests.at(-1)?.target).to.equal('/deals?stage=open&limit=20&after=c2');
  });

  it('shows the responses that the API returns', async () => {
    const paths = [...PAGE.matchAll(/"\$V(\/api\/v1\/tools[^"]*)"/g)].map(([, path]) => path as string);
    expect(paths).to.have.length(4);
    for (const path of paths) {
      const query = path.endsWith(':search') ? '?query=refund%20a%20payment&user_id=ada&identifier=ada@acme.test' : '';
      const answer = await server.call('GET', `${path}${query}`);
      expect(answer.status, `${path} ${answer.text}`).to.equal(200);
    }
  });
});

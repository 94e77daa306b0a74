import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { testClock } from '../support/clock.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { tempDir } from '../support/temp-dir.ts';
import { FIXTURE_KEYS, RELEASES, type ReleasedFacts, readAccounts, readReleased } from './released-data.ts';

const VERSIONS = readdirSync(RELEASES, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

for (const version of VERSIONS) {
  describe(`a database of version ${version}`, () => {
    let folder: ReturnType<typeof tempDir>;
    let facts: ReleasedFacts;
    let server: TestServer;

    const start = (keys = FIXTURE_KEYS) =>
      startTestServer({
        dataDir: folder.path,
        env: { VALETKEY_KEYS: keys },
        overrides: { now: testClock(facts.storedAt).now },
      });

    before(async () => {
      folder = tempDir();
      const released = readReleased(version);
      facts = released.facts;
      writeFileSync(join(folder.path, 'valetkey.db'), released.database);
      const error = await start(FIXTURE_KEYS.replace(/.{5}=$/, 'AAAAA=')).then(
        async (opened) => opened.stop(),
        (reason: Error) => reason,
      );
      expect(error, 'the control: another key does not open it').to.be.an('error');
      server = await start();
    });
    after(async () => {
      await server?.stop();
      folder.remove();
    });

    it('has rows in every table', () => {
      expect(facts.accounts.length).to.be.above(12);
      expect(Object.values(facts.rows).every((count) => count > 0)).to.equal(true);
    });

    it('shows every account, and its credentials can be decrypted', async () => {
      expect(await readAccounts(server)).to.deep.equal(facts.accounts);
    });

    it('shows the contents of its executions', async () => {
      const { executions } = (await server.call('GET', '/api/v1/executions')).body;
      const shown = await Promise.all(
        executions.map(({ id }: { id: string }) => server.call('GET', `/api/v1/executions/${id}`)),
      );
      const kept = shown.flatMap(({ body }) => body.contents ?? []);
      expect(kept).not.to.have.length(0);
      for (const contents of kept) expect(contents.response).not.to.be.oneOf([undefined, null]);
    });

    it('has an unbroken audit chain in every environment, which continues', async () => {
      const { store } = server.parts;
      const environments = await store.read.environments.list();
      expect(environments).to.have.length(2);
      const [account] = facts.accounts;
      await server.call('POST', '/api/v1/connected_accounts:disconnect', { body: { id: account?.id } });
      for (const { id } of environments) expect(await store.read.audit.verifyChain(id)).to.include({ intact: true });
    });
  });
}

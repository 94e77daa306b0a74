import { expect } from 'chai';
import type { IdPrefix } from '../../core/ids.ts';
import type { Store } from '../../db/store.ts';
import { readConfig } from '../../http/config/config.ts';
import { ConfigError } from '../../http/config/config-error.ts';
import { createLogger } from '../../http/monitoring/log.ts';
import { createApplication } from '../../wiring/create-application.ts';
import { wrap } from '../../wiring/overrides.ts';
import { createAccount } from '../support/accounts.ts';
import { startTestServer } from '../support/server.ts';
import { tempDir } from '../support/temp-dir.ts';

const log = createLogger('silent', { write: () => {} });

describe('createApplication', () => {
  const folder = tempDir();
  after(() => folder.remove());

  it('closes what it has opened when a later step fails, so that the next start can open the database', async () => {
    const opened: Store[] = [];
    const create = (env: Record<string, string>) => {
      const { config, secrets } = readConfig({ PORT: '0', DATA_DIR: folder.path, ...env });
      const store = wrap((made: Store) => {
        opened.push(made);
        return made;
      });
      return createApplication(config, secrets, { log, store });
    };
    const error = await create({ VALETKEY_EGRESS_ALLOW: 'not an address' }).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(ConfigError);
    const { parts } = await create({});
    expect(await Promise.all(opened.map((store) => store.healthy()))).to.deep.equal([false, true]);
    await parts.close();
    expect(await Promise.all(opened.map((store) => store.healthy()))).to.deep.equal([false, false]);
  });

  it('uses a replaced part in every later step', async () => {
    const seen = new Set<IdPrefix>();
    const newId = wrap((made: (prefix: IdPrefix) => string) => (prefix: IdPrefix) => {
      seen.add(prefix);
      return made(prefix);
    });
    const server = await startTestServer({ overrides: { newId } });
    await createAccount(server);
    await server.stop();
    expect([...seen]).to.include.members(['env', 'inst', 'conn', 'ca', 'evt', 'req']);
  });
});

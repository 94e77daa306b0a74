import { expect } from 'chai';
import { serverSettingsFor } from '../../../core/environments/server-settings.ts';

const CHECKS = [
  { kekId: 'kek_old', createdAt: 1_000 },
  { kekId: 'kek_active', createdAt: 2_000 },
  { kekId: 'kek_standby', createdAt: 3_000 },
  { kekId: 'kek_retired', createdAt: 4_000 },
];

function tools(ids: string[]) {
  const deploymentSecrets = {
    keyChecks: async () => CHECKS.map((check) => ({ ...check, checkValue: Buffer.alloc(32) })),
  };
  return {
    store: { read: { deploymentSecrets } } as never,
    keyIds: () => ids,
    consoleIssuer: null,
    allowedAddresses: [{ host: '127.0.0.1', port: 4001 }],
    endpointOverrides: [],
  };
}

describe('the settings of the server', () => {
  it('distinguish the active key, a standby key and old keys', async () => {
    const { keys } = await serverSettingsFor(tools(['kek_active', 'kek_standby', 'kek_old', 'kek_new']), 'DEVELOPMENT');
    expect(keys).to.deep.equal([
      { id: 'kek_active', state: 'ACTIVE', createdAt: 2_000 },
      { id: 'kek_standby', state: 'STANDBY', createdAt: 3_000 },
      { id: 'kek_old', state: 'OLD', createdAt: 1_000 },
      { id: 'kek_new', state: 'OLD', createdAt: null },
    ]);
  });

  it('contain no additional addresses in production', async () => {
    expect((await serverSettingsFor(tools(['kek_active']), 'PRODUCTION')).allowedAddresses).to.deep.equal([]);
    expect((await serverSettingsFor(tools(['kek_active']), 'DEVELOPMENT')).allowedAddresses).to.have.length(1);
  });
});

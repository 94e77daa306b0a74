import { expect } from 'chai';
import { readBackup } from '../../db/sqlite/backup/read.ts';
import type { Random } from '../fuzz/random.ts';
import type { ServerClient } from '../support/child-server.ts';
import { checkAccounts, findAccounts } from './check-accounts.ts';
import { checkCalls, checkGrants } from './check-calls.ts';
import type { Counterpart } from './counterpart.ts';
import { storedVersions, toolsOfVersion } from './imports.ts';
import type { Ledger } from './ledger.ts';
import type { FileScene, Scene } from './load.ts';

/** The number of verified links and grants of earlier rounds that are compared again. */
const KEPT = 30;

export interface Crash {
  scene: Scene;
  ledger: Ledger;
  counterpart: Counterpart;
  random: Random;
}

/**
 * Compares a server that was killed and started again with the ledger, the client's record of its requests.
 * Acknowledged writes must be stored. Doubtful ones, which had no response, must have happened as a whole or not at
 * all. No effect may have happened twice. Afterwards the ledger has no doubtful write.
 */
export async function checkServer(server: ServerClient, { scene, ledger, counterpart, random }: Crash): Promise<void> {
  expect(ledger.faults).to.deep.equal([]);
  await checkAccounts(server, scene, ledger, random);
  await checkCalls(server, counterpart, ledger);
  await checkGrants(server, counterpart, ledger);
  ledger.grants = ledger.grants.slice(-KEPT);
  await checkLinks(server, ledger);
  await checkSecrets(server, ledger);
  await checkImports(server, ledger);
}

async function checkLinks(server: ServerClient, ledger: Ledger): Promise<void> {
  for (const identifier of [...ledger.linked].slice(-KEPT)) {
    const [account] = await findAccounts(server, identifier);
    expect(account?.status, `${identifier} was verified`).to.equal('ACTIVE');
  }
  for (const identifier of ledger.doubtfulLinks) {
    const [account] = await findAccounts(server, identifier);
    expect(account?.status, identifier).to.be.oneOf(['ACTIVE', 'PENDING_VERIFICATION', 'PENDING_AUTH', undefined]);
  }
  ledger.doubtfulLinks.clear();
}

/** A rotation without a response may have replaced the secret; a rotation with a response has replaced it. */
async function checkSecrets(server: ServerClient, ledger: Ledger): Promise<void> {
  const [secret = ''] = ledger.secrets;
  const form = { grant_type: 'client_credentials', client_id: ledger.clientId, client_secret: secret };
  const works = (await fetch(`${server.origin}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) })).ok;
  if (ledger.secrets.length === 1) expect(works, 'the secret that was acknowledged').to.equal(true);
  if (works) {
    ledger.secrets = [secret];
    return;
  }
  const path = `/api/v1/api_clients/${ledger.clientId}:rotate_secret`;
  ledger.secrets = [(await server.call('POST', path, { body: { overlap_seconds: 0 } })).body.client_secret];
}

/**
 * Checks that all imported tools have one version, and that an import of this version was acknowledged or is doubtful.
 */
async function checkImports(server: ServerClient, ledger: Ledger): Promise<void> {
  const stored = await storedVersions(server);
  const [version = 0] = stored;
  expect(ledger.imports).to.include(version);
  expect(stored).to.deep.equal(Array.from({ length: toolsOfVersion(version) }, () => version));
  ledger.imports = [version];
}

/** Checks that every audit record exists unchanged. */
export async function checkAudit({ databaseFile }: FileScene): Promise<void> {
  const { read, close } = readBackup(databaseFile);
  try {
    for (const { id } of await read.environments.list()) {
      expect(await read.audit.verifyChain(id)).to.have.property('intact', true);
    }
  } finally {
    close();
  }
}

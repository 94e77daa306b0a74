import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Random } from '../fuzz/random.ts';
import { unknownId } from '../support/accounts.ts';
import type { ServerClient } from '../support/child-server.ts';
import type { Ledger, LedgerAccount } from './ledger.ts';
import { creation, type Scene } from './load.ts';

const ACCOUNTS = '/api/v1/connected_accounts';

/** The number of accounts that are compared again although they were certain before this round. */
const COMPARED_AGAIN = 30;

/**
 * Compares stored accounts with the ledger, the client's record of its requests: all doubtful accounts (whose last
 * request had no response), the newest ones and some others.
 */
export async function checkAccounts(server: ServerClient, scene: Scene, ledger: Ledger, random: Random): Promise<void> {
  checkBytes(scene, ledger);
  const isSettled = ({ state, sentVersion }: LedgerAccount) => state !== 'doubtful' && sentVersion === undefined;
  const settled = ledger.accounts.filter(isSettled);
  const doubtful = ledger.accounts.filter((account) => !isSettled(account));
  const older = Array.from({ length: Math.min(COMPARED_AGAIN, settled.length) }, () => random.pick(settled));
  const chosen = new Set([...older, ...settled.slice(-COMPARED_AGAIN), ...doubtful]);
  for (const account of chosen) await checkAccount(server, scene, account);
}

/**
 * Checks that the files contain no secret in plain text and no data key of deleted credentials. Without their data key,
 * remaining copies of the credentials cannot be decrypted.
 */
function checkBytes({ databaseFile }: Scene, ledger: Ledger): void {
  if (databaseFile === undefined) return;
  const files = ['', '-wal', '-mark'].map((suffix) => databaseFile + suffix).filter(existsSync);
  const bytes = files.map((file) => readFileSync(file));
  for (const account of ledger.accounts) {
    if (account.state !== 'deleted' || !account.mark) continue;
    const { mark } = account;
    const isLeft = bytes.some((content) => content.includes(mark));
    expect(isLeft, `the data key of ${account.identifier}, which was deleted`).to.equal(false);
    delete account.mark;
  }
  expect(bytes.some((content) => content.includes('secret-key-of-'))).to.equal(false);
}

export async function checkAccount(server: ServerClient, scene: Scene, account: LedgerAccount): Promise<void> {
  const { id, identifier, state } = account;
  if (id === undefined) return settleCreation(server, scene, account);
  const answer = await server.call('GET', `${ACCOUNTS}/details?id=${id}`);
  if (state === 'there') expect(answer.status, `${identifier} was acknowledged`).to.equal(200);
  if (state === 'deleted') expect(answer.status, `${identifier} was deleted`).to.equal(404);
  account.state = answer.status === 200 ? 'there' : 'deleted';
  if (answer.status !== 200) return;
  const { version } = answer.body.connected_account.api_config;
  expect(version, `the settings of ${identifier}`).to.be.oneOf([
    account.version,
    account.sentVersion ?? account.version,
  ]);
  account.version = version;
  delete account.sentVersion;
}

/**
 * A creation without a response happened once or not at all. After it is sent again with its key, it has happened
 * exactly once.
 */
async function settleCreation(server: ServerClient, { keyedConnector }: Scene, account: LedgerAccount): Promise<void> {
  const { identifier, key } = account;
  const found = await findAccounts(server, identifier);
  expect(found.length, identifier).to.be.at.most(1);
  if (key === undefined) {
    const [only] = found;
    Object.assign(account, only ? { id: only.id, state: 'there' } : { id: unknownId('ca'), state: 'deleted' });
    return;
  }
  const answer = await server.call('POST', ACCOUNTS, creation(keyedConnector, identifier, key));
  expect(answer.status, answer.text).to.equal(201);
  const [only, ...others] = await findAccounts(server, identifier);
  expect([only?.id, others.length]).to.deep.equal([answer.body.connected_account.id, 0]);
  Object.assign(account, { id: only?.id, state: 'there' });
}

export async function findAccounts(
  server: ServerClient,
  identifier: string,
): Promise<{ id: string; status: string }[]> {
  const { body } = await server.call('GET', `${ACCOUNTS}?identifier=${identifier}`);
  return body.connected_accounts;
}

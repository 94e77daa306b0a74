import { randomBytes } from 'node:crypto';
import { createIds } from '../../../core/ids.ts';
import type { EnvironmentId, NewAccount, Store } from '../../../db/store.ts';

/** The rows that `seed` has made, with which a worker runs an operation. */
export interface Subjects {
  environmentId: EnvironmentId;
  connectionId: string;
  clientId: string;
  accounts: number;
}

export const OPERATION_NAMES = ['select-1', 'get-details', 'get-auth', 'list', 'insert', 'create', 'mixed'] as const;

export type OperationName = (typeof OPERATION_NAMES)[number];

export interface BenchOperations {
  run(name: OperationName): Promise<unknown>;
  /** How often units of work were run: more often than they were called if conflicting transactions were repeated. */
  unitRuns(): number;
  unitCalls(): number;
}

/** Returns the id of a seeded account. */
export function accountId(index: number): string {
  return `ca_${String(index).padStart(26, '0')}`;
}

/** The operations as handlers run them, without HTTP and without encryption. */
export function createBenchOperations(store: Store, subjects: Subjects): BenchOperations {
  const { environmentId, connectionId, clientId, accounts } = subjects;
  const newId = createIds(Date.now, randomBytes);
  let runs = 0;
  let calls = 0;
  const anyId = () => accountId(1 + Math.floor(Math.random() * accounts));
  const audited = (action: string, subjectId: string) => ({
    ...{ id: newId('aud'), at: Date.now(), actor: clientId, action, subjectId, requestId: newId('req') },
    details: {},
  });
  const unit: Store['write'] = (work, terms) => {
    calls++;
    return store.write((tx) => {
      runs++;
      return work(tx);
    }, terms);
  };
  const client = () => store.read.apiClients.state(environmentId, clientId);

  const operations: Record<OperationName, () => Promise<unknown>> = {
    'select-1': () => store.healthy(),
    'get-details': () => Promise.all([client(), store.read.accounts.shown(environmentId, anyId())]),
    async 'get-auth'() {
      const [, account] = await Promise.all([client(), store.read.accounts.get(environmentId, anyId())]);
      const id = account?.id ?? '';
      await unit((tx) => tx.audit.append(environmentId, audited('connected_account.credentials_read', id)), {
        isolated: false,
      });
    },
    list: () => Promise.all([client(), store.read.accounts.list(environmentId, {}, { size: 50 })]),
    insert: () => {
      const check = { kekId: newId('job'), checkValue: randomBytes(32), createdAt: Date.now() };
      return unit((tx) => tx.deploymentSecrets.insertKeyCheckIfAbsent(check), { isolated: false });
    },
    async create() {
      await client();
      const account = newAccount(newId('ca'), connectionId);
      await unit(async (tx) => {
        await tx.accounts.insert(environmentId, account);
        await tx.audit.append(environmentId, audited('connected_account.created', account.id));
      });
    },
    mixed: () => operations[MIX[Math.floor(Math.random() * MIX.length)] as OperationName](),
  };

  return { run: (name) => operations[name](), unitRuns: () => runs, unitCalls: () => calls };
}

/** The most frequent operations of a deployment: calls of tools read credentials, and few accounts are created. */
const MIX: OperationName[] = ['get-details', 'get-details', 'get-auth', 'get-auth', 'get-auth', 'list', 'create'];

export function newAccount(id: string, connectionId: string): NewAccount {
  const now = Date.now();
  return {
    ...{ id, connectionId, connector: 'github', provider: 'github', organizationId: '', userId: 'user_1' },
    ...{
      identifier: `${id}@example.com`,
      authorizationType: 'OAUTH',
      status: 'ACTIVE',
      createdAt: now,
      updatedAt: now,
    },
  };
}

import { and, eq } from './drizzle.ts';
import type { DeploymentSecretRow, KeyCheckRow } from './rows/deployment-secrets.ts';
import { deploymentSecrets, keyChecks } from './schema.ts';
import type { Statements } from './statements.ts';

export interface DeploymentSecretReads {
  get(name: string): Promise<DeploymentSecretRow | undefined>;
  list(): Promise<DeploymentSecretRow[]>;
  keyChecks(): Promise<KeyCheckRow[]>;
}

export interface DeploymentSecretWrites {
  /** @returns the stored row: the given one, or the one that existed before */
  insertIfAbsent(secret: DeploymentSecretRow): Promise<DeploymentSecretRow>;
  /** Replaces an encrypted value if it is unchanged. @returns false if it has changed */
  replace(name: string, sealed: Buffer, by: { kekId: string; sealed: Buffer }): Promise<boolean>;
  /** @returns the stored row: the given one, or the one that existed before */
  insertKeyCheckIfAbsent(check: KeyCheckRow): Promise<KeyCheckRow>;
  deleteKeyCheck(kekId: string): Promise<boolean>;
}

export type DeploymentSecretRepository = DeploymentSecretReads & DeploymentSecretWrites;

/** Statements are not prepared in advance, because they are only used at start and by key rotation. */
export function createDeploymentSecretRepository({ db }: Statements): DeploymentSecretRepository {
  const find = (name: string) => db.select().from(deploymentSecrets).where(eq(deploymentSecrets.name, name)).get();
  return {
    get: find,
    list: () => db.select().from(deploymentSecrets).orderBy(deploymentSecrets.name).all(),
    keyChecks: () => db.select().from(keyChecks).orderBy(keyChecks.createdAt, keyChecks.kekId).all(),
    async insertIfAbsent(secret) {
      await db.insert(deploymentSecrets).values(secret).onConflictDoNothing().run();
      return (await find(secret.name)) as DeploymentSecretRow;
    },
    async replace(name, sealed, by) {
      const unchanged = and(eq(deploymentSecrets.name, name), eq(deploymentSecrets.sealed, sealed));
      return (await db.update(deploymentSecrets).set(by).where(unchanged).run()).changes === 1;
    },
    async insertKeyCheckIfAbsent(check) {
      await db.insert(keyChecks).values(check).onConflictDoNothing().run();
      return (await db.select().from(keyChecks).where(eq(keyChecks.kekId, check.kekId)).get()) as KeyCheckRow;
    },
    async deleteKeyCheck(kekId) {
      return (await db.delete(keyChecks).where(eq(keyChecks.kekId, kekId)).run()).changes === 1;
    },
  };
}

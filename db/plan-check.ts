import { and, eq, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import type { PlanVersions } from './rows/executions.ts';
import { accounts, connections, customProviders, environmentTools } from './schema.ts';
import type { Statements } from './statements.ts';

const ENVIRONMENT = sql.placeholder('environmentId');

/**
 * Creates the function that returns whether the account, connection, provider and tool of a planned call are unchanged
 * since it was planned. Each row is read by its own statement: a database server runs the statements concurrently, and
 * in an embedded database, one statement over several tables takes ten times as long.
 */
export function createPlanCheck({ db, once }: Statements) {
  const given = (name: string) => sql.placeholder(name);
  const account = once(() =>
    db
      .select({ version: accounts.version })
      .from(accounts)
      .where(and(eq(accounts.id, given('accountId')), eq(accounts.environmentId, ENVIRONMENT)))
      .prepare(),
  );
  const connection = once(() =>
    db
      .select({ version: connections.version })
      .from(connections)
      .where(and(eq(connections.id, given('connectionId')), eq(connections.environmentId, ENVIRONMENT)))
      .prepare(),
  );
  const provider = once(() =>
    db
      .select({ version: customProviders.version })
      .from(customProviders)
      .where(and(eq(customProviders.environmentId, ENVIRONMENT), eq(customProviders.identifier, given('provider'))))
      .prepare(),
  );
  const tool = once(() =>
    db
      .select({ contentHash: environmentTools.contentHash, flagged: environmentTools.flagged })
      .from(environmentTools)
      .where(and(eq(environmentTools.environmentId, ENVIRONMENT), eq(environmentTools.name, given('ownTool'))))
      .prepare(),
  );

  return async function isCurrent(
    environmentId: EnvironmentId,
    accountId: string | null,
    planned: PlanVersions,
  ): Promise<boolean> {
    const { connectionId, provider: identifier, ownTool } = planned;
    const [foundAccount, foundConnection, foundProvider, foundTool] = await Promise.all([
      account().get({ environmentId, accountId }),
      connection().get({ environmentId, connectionId }),
      identifier === null ? undefined : provider().get({ environmentId, provider: identifier }),
      ownTool === null ? undefined : tool().get({ environmentId, ownTool }),
    ]);
    return (
      foundAccount?.version === planned.accountVersion &&
      foundConnection?.version === planned.connectionVersion &&
      (identifier === null || foundProvider?.version === planned.providerVersion) &&
      (ownTool === null || (foundTool?.contentHash === planned.contentHash && foundTool.flagged === null))
    );
  };
}

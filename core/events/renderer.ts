import type {
  AccountRow,
  ApiClientRow,
  ApiClientSecretRow,
  ConnectionRow,
  CustomProviderRow,
  EnvironmentId,
  EnvironmentRow,
  ExecutionRow,
  JobRow,
  LoginProviderRow,
  McpConfigRow,
  OAuthClientRow,
  OAuthGrantRow,
  OperatorSessionRow,
  Repositories,
  WebhookEndpointRow,
} from '../../db/store.ts';
import { describeConnection } from '../connections/describe.ts';
import type { Catalogue } from '../connectors/catalogue.ts';
import { presentAccountDetails } from '../present/account.ts';
import { presentApiClient } from '../present/api-client.ts';
import { presentEnvironment } from '../present/environment.ts';
import { presentExecution } from '../present/execution.ts';
import { presentJob } from '../present/job.ts';
import { presentMcpClient } from '../present/mcp-client.ts';
import { presentMcpConfig } from '../present/mcp-config.ts';
import { presentMcpGrant } from '../present/mcp-grant.ts';
import { presentMcpLoginProvider } from '../present/mcp-login-provider.ts';
import { presentOperatorSession } from '../present/operator-session.ts';
import { presentCustomProvider } from '../present/provider.ts';
import { presentRevocation } from '../present/revocation.ts';
import type { Schemas } from '../present/schemas.ts';
import { presentTool } from '../present/tool.ts';
import { presentWebhookEndpoint } from '../present/webhook-endpoint.ts';

/** Returns functions that render objects as they are within one unit of work. */
export type Renderer = (tx: Repositories, environmentId: EnvironmentId) => Representations;

/**
 * The API's representations of objects, for the data of events. They contain no secrets. A given row is rendered as it
 * is; an object given by id is read within the unit of work.
 */
export interface Representations {
  account(account: AccountRow | string): Promise<Schemas['ConnectedAccountDetails']>;
  /** The account in the data of link events; null if it was deleted. */
  linkAccount(accountId: string): Promise<LinkAccount>;
  connection(row: ConnectionRow | string): Promise<Schemas['ConnectionConfiguration']>;
  provider(row: CustomProviderRow): Schemas['Provider'];
  tool(tool: Parameters<typeof presentTool>[0]): Schemas['Tool'];
  mcpConfig(row: McpConfigRow): Promise<Schemas['McpConfig']>;
  mcpClient(row: OAuthClientRow): Schemas['McpClient'];
  mcpGrant(row: OAuthGrantRow): Schemas['McpGrant'];
  mcpLoginProvider(row: LoginProviderRow): Promise<Schemas['McpLoginProvider']>;
  apiClient(row: ApiClientRow & { secrets: ApiClientSecretRow[] }): Schemas['ApiClient'];
  operatorSession(row: OperatorSessionRow): Schemas['OperatorSession'];
  environment(row?: EnvironmentRow): Promise<Schemas['Environment']>;
  execution(id: string): Promise<Schemas['Execution']>;
  revocation(id: string): Promise<Schemas['Revocation']>;
  job(row: JobRow): Schemas['Job'];
  webhookEndpoint(row: WebhookEndpointRow): Schemas['WebhookEndpoint'];
}

interface LinkAccount {
  connected_account_id: string;
  connected_account: Schemas['ConnectedAccountDetails'] | null;
}

export function createRenderer({ catalogue }: { catalogue: Catalogue }): Renderer {
  return (tx, environmentId) => {
    const environment = async () => (await tx.environments.get(environmentId)) as EnvironmentRow;
    // The latest uses may not be written yet, so `last_used_at` may be slightly old.
    const details = (row: AccountRow) => presentAccountDetails(row, row.lastUsedAt);
    return {
      async account(account) {
        const isId = typeof account === 'string';
        return details(isId ? ((await tx.accounts.get(environmentId, account)) as AccountRow) : account);
      },
      async linkAccount(id) {
        const row = await tx.accounts.get(environmentId, id);
        return { connected_account_id: id, connected_account: row ? details(row) : null };
      },
      async connection(connection) {
        const isId = typeof connection === 'string';
        const row = isId ? ((await tx.connections.get(environmentId, connection)) as ConnectionRow) : connection;
        return describeConnection(tx, row, await environment(), catalogue);
      },
      provider: presentCustomProvider,
      tool: presentTool,
      mcpConfig: async (row) => presentMcpConfig(row, await environment()),
      mcpClient: presentMcpClient,
      mcpGrant: presentMcpGrant,
      mcpLoginProvider: async (row) => presentMcpLoginProvider(await environment(), row),
      apiClient: (row) => presentApiClient(row, row.secrets),
      operatorSession: presentOperatorSession,
      environment: async (row) => presentEnvironment(row ?? (await environment())),
      execution: async (id) => presentExecution((await tx.executions.get(environmentId, id)) as ExecutionRow),
      async revocation(id) {
        return presentRevocation((await tx.jobs.get(environmentId, id)) as JobRow);
      },
      job: presentJob,
      webhookEndpoint: presentWebhookEndpoint,
    };
  };
}

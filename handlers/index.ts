import type { Accounts } from '../core/capabilities/accounts.ts';
import type { Audit } from '../core/capabilities/audit.ts';
import type { Clients } from '../core/capabilities/clients.ts';
import type { Connections } from '../core/capabilities/connections.ts';
import type { Environments } from '../core/capabilities/environments.ts';
import type { Executions } from '../core/capabilities/executions.ts';
import type { Jobs } from '../core/capabilities/jobs.ts';
import type { Links } from '../core/capabilities/links.ts';
import type { McpConfigs } from '../core/capabilities/mcp.ts';
import type { McpLogins } from '../core/capabilities/mcp-logins.ts';
import type { Operators } from '../core/capabilities/operators.ts';
import type { Portal } from '../core/capabilities/portal.ts';
import type { Providers } from '../core/capabilities/providers.ts';
import type { Service } from '../core/capabilities/service.ts';
import type { Tokens } from '../core/capabilities/tokens.ts';
import type { Tools } from '../core/capabilities/tools.ts';
import type { Webhooks } from '../core/capabilities/webhooks.ts';
import type { Handler, Handlers, OperationId } from '../http/contract.ts';
import { createApiClient } from './api-clients/createApiClient.ts';
import { disableApiClient } from './api-clients/disableApiClient.ts';
import { listApiClients } from './api-clients/listApiClients.ts';
import { rotateApiClientSecret } from './api-clients/rotateApiClientSecret.ts';
import { exportAuditEvents } from './audit/exportAuditEvents.ts';
import { listAuditEvents } from './audit/listAuditEvents.ts';
import { verifyAuditEvents } from './audit/verifyAuditEvents.ts';
import { checkConnectedAccount } from './connected-accounts/checkConnectedAccount.ts';
import { createConnectedAccount } from './connected-accounts/createConnectedAccount.ts';
import { deleteConnectedAccount } from './connected-accounts/deleteConnectedAccount.ts';
import { disconnectConnectedAccount } from './connected-accounts/disconnectConnectedAccount.ts';
import { getConnectedAccountAuth } from './connected-accounts/getConnectedAccountAuth.ts';
import { getConnectedAccountDetails } from './connected-accounts/getConnectedAccountDetails.ts';
import { getRefreshStatistics } from './connected-accounts/getRefreshStatistics.ts';
import { listConnectedAccounts } from './connected-accounts/listConnectedAccounts.ts';
import { listRevocations } from './connected-accounts/listRevocations.ts';
import { refreshConnectedAccount } from './connected-accounts/refreshConnectedAccount.ts';
import { searchConnectedAccounts } from './connected-accounts/searchConnectedAccounts.ts';
import { updateConnectedAccount } from './connected-accounts/updateConnectedAccount.ts';
import { checkConnection } from './connections/checkConnection.ts';
import { createConnection } from './connections/createConnection.ts';
import { deleteConnection } from './connections/deleteConnection.ts';
import { disableConnection } from './connections/disableConnection.ts';
import { enableConnection } from './connections/enableConnection.ts';
import { getConnection } from './connections/getConnection.ts';
import { listConnections } from './connections/listConnections.ts';
import { updateConnection } from './connections/updateConnection.ts';
import { createCustomProvider } from './custom-providers/createCustomProvider.ts';
import { deleteCustomProvider } from './custom-providers/deleteCustomProvider.ts';
import { getCustomProvider } from './custom-providers/getCustomProvider.ts';
import { syncProviderTools } from './custom-providers/syncProviderTools.ts';
import { updateCustomProvider } from './custom-providers/updateCustomProvider.ts';
import { getEnvironment } from './environment/getEnvironment.ts';
import { getServerSettings } from './environment/getServerSettings.ts';
import { updateEnvironment } from './environment/updateEnvironment.ts';
import { getEvent } from './events/getEvent.ts';
import { listEvents } from './events/listEvents.ts';
import { streamEvents } from './events/streamEvents.ts';
import { getExecution } from './executions/getExecution.ts';
import { getExecutionStatistics } from './executions/getExecutionStatistics.ts';
import { listExecutions } from './executions/listExecutions.ts';
import { downloadFile } from './files/downloadFile.ts';
import { listJobs } from './jobs/listJobs.ts';
import { retryJob } from './jobs/retryJob.ts';
import { generateMagicLink } from './links/generateMagicLink.ts';
import { verifyUser } from './links/verifyUser.ts';
import { createMcpConfig } from './mcp/createMcpConfig.ts';
import { createMcpSessionToken } from './mcp/createMcpSessionToken.ts';
import { deleteMcpConfig } from './mcp/deleteMcpConfig.ts';
import { getMcpConfig } from './mcp/getMcpConfig.ts';
import { listMcpConfigs } from './mcp/listMcpConfigs.ts';
import { updateMcpConfig } from './mcp/updateMcpConfig.ts';
import { completeMcpLogin } from './mcp-login/completeMcpLogin.ts';
import { createMcpClient } from './mcp-login/createMcpClient.ts';
import { deleteMcpClient } from './mcp-login/deleteMcpClient.ts';
import { deleteMcpLoginProvider } from './mcp-login/deleteMcpLoginProvider.ts';
import { getMcpLoginProvider } from './mcp-login/getMcpLoginProvider.ts';
import { listMcpClients } from './mcp-login/listMcpClients.ts';
import { listMcpGrants } from './mcp-login/listMcpGrants.ts';
import { revokeMcpGrant } from './mcp-login/revokeMcpGrant.ts';
import { revokeMcpGrants } from './mcp-login/revokeMcpGrants.ts';
import { setMcpLoginProvider } from './mcp-login/setMcpLoginProvider.ts';
import { getAuthorizationServerMetadata } from './oauth/getAuthorizationServerMetadata.ts';
import { getIdentityProviderMetadata } from './oauth/getIdentityProviderMetadata.ts';
import { getJwks } from './oauth/getJwks.ts';
import { issueToken } from './oauth/issueToken.ts';
import { registerOAuthClient } from './oauth/registerOAuthClient.ts';
import { revokeOAuthToken } from './oauth/revokeOAuthToken.ts';
import { createOperatorSession } from './operators/createOperatorSession.ts';
import { endOperatorSession } from './operators/endOperatorSession.ts';
import { listOperatorSessions } from './operators/listOperatorSessions.ts';
import { createPortalSession } from './portal/createPortalSession.ts';
import { getProvider } from './providers/getProvider.ts';
import { listProviders } from './providers/listProviders.ts';
import { getHealth } from './service/getHealth.ts';
import { getReadiness } from './service/getReadiness.ts';
import { createTool } from './tools/createTool.ts';
import { deleteTool } from './tools/deleteTool.ts';
import { deleteToolOverlay } from './tools/deleteToolOverlay.ts';
import { executeTool } from './tools/executeTool.ts';
import { getTool } from './tools/getTool.ts';
import { getToolOverlay } from './tools/getToolOverlay.ts';
import { importTools } from './tools/importTools.ts';
import { listScopedTools } from './tools/listScopedTools.ts';
import { listToolOverlays } from './tools/listToolOverlays.ts';
import { listTools } from './tools/listTools.ts';
import { previewToolOverlay } from './tools/previewToolOverlay.ts';
import { searchTools } from './tools/searchTools.ts';
import { setToolOverlay } from './tools/setToolOverlay.ts';
import { updateTool } from './tools/updateTool.ts';
import { createWebhookEndpoint } from './webhooks/createWebhookEndpoint.ts';
import { deleteWebhookEndpoint } from './webhooks/deleteWebhookEndpoint.ts';
import { disableWebhookEndpoint } from './webhooks/disableWebhookEndpoint.ts';
import { enableWebhookEndpoint } from './webhooks/enableWebhookEndpoint.ts';
import { getWebhookDelivery } from './webhooks/getWebhookDelivery.ts';
import { getWebhookEndpoint } from './webhooks/getWebhookEndpoint.ts';
import { listWebhookDeliveries } from './webhooks/listWebhookDeliveries.ts';
import { listWebhookEndpoints } from './webhooks/listWebhookEndpoints.ts';
import { redeliverWebhook } from './webhooks/redeliverWebhook.ts';
import { redeliverWebhooks } from './webhooks/redeliverWebhooks.ts';
import { rotateWebhookSecret } from './webhooks/rotateWebhookSecret.ts';
import { testWebhookEndpoint } from './webhooks/testWebhookEndpoint.ts';
import { updateWebhookEndpoint } from './webhooks/updateWebhookEndpoint.ts';

/** The dependencies of handlers, by group of operations (capability). Each handler receives at most one of them. */
export interface Capabilities {
  accounts: Accounts;
  audit: Audit;
  clients: Clients;
  connections: Connections;
  environments: Environments;
  executions: Executions;
  jobs: Jobs;
  links: Links;
  mcp: McpConfigs;
  mcpLogins: McpLogins;
  operators: Operators;
  portal: Portal;
  providers: Providers;
  service: Service;
  tokens: Tokens;
  tools: Tools;
  webhooks: Webhooks;
}

/** Maps every operation of the contract to its handler; a missing or additional one is a compile error. */
export function createHandlers(capabilities: Capabilities): Handlers {
  const {
    accounts,
    audit,
    clients,
    connections,
    environments,
    executions,
    jobs,
    links,
    mcp,
    mcpLogins,
    operators,
    portal,
    providers,
    service,
    tokens,
    tools,
    webhooks,
  } = capabilities;
  return {
    getAuthorizationServerMetadata,
    getHealth,
    getIdentityProviderMetadata,
    ...bind(accounts, {
      createConnectedAccount,
      deleteConnectedAccount,
      disconnectConnectedAccount,
      getConnectedAccountAuth,
      getConnectedAccountDetails,
      getRefreshStatistics,
      listConnectedAccounts,
      listRevocations,
      searchConnectedAccounts,
      updateConnectedAccount,
    }),
    ...bind(audit, { exportAuditEvents, listAuditEvents, verifyAuditEvents }),
    ...bind(clients, { createApiClient, disableApiClient, listApiClients, rotateApiClientSecret }),
    ...bind(connections, {
      createConnection,
      deleteConnection,
      disableConnection,
      checkConnection,
      enableConnection,
      getConnection,
      listConnections,
      updateConnection,
    }),
    ...bind(environments, { getEnvironment, updateEnvironment, getServerSettings }),
    ...bind(executions, {
      checkConnectedAccount,
      refreshConnectedAccount,
      downloadFile,
      executeTool,
      getExecution,
      getExecutionStatistics,
      listExecutions,
    }),
    ...bind(jobs, { listJobs, retryJob }),
    ...bind(links, { generateMagicLink, verifyUser }),
    ...bind(mcp, {
      createMcpConfig,
      createMcpSessionToken,
      deleteMcpConfig,
      getMcpConfig,
      listMcpConfigs,
      updateMcpConfig,
    }),
    ...bind(mcpLogins, {
      completeMcpLogin,
      createMcpClient,
      deleteMcpClient,
      deleteMcpLoginProvider,
      getMcpLoginProvider,
      listMcpClients,
      listMcpGrants,
      registerOAuthClient,
      revokeMcpGrant,
      revokeMcpGrants,
      revokeOAuthToken,
      setMcpLoginProvider,
    }),
    ...bind(operators, { createOperatorSession, endOperatorSession, listOperatorSessions }),
    ...bind(portal, { createPortalSession }),
    ...bind(providers, {
      createCustomProvider,
      deleteCustomProvider,
      getCustomProvider,
      getProvider,
      importTools,
      listProviders,
      syncProviderTools,
      updateCustomProvider,
    }),
    ...bind(service, { getReadiness }),
    ...bind(tokens, { getJwks, issueToken }),
    ...bind(tools, { createTool, deleteTool, getTool, listScopedTools, listTools, searchTools, updateTool }),
    ...bind(tools, { deleteToolOverlay, getToolOverlay, listToolOverlays, previewToolOverlay, setToolOverlay }),
    ...bind(webhooks, {
      createWebhookEndpoint,
      deleteWebhookEndpoint,
      disableWebhookEndpoint,
      enableWebhookEndpoint,
      getEvent,
      getWebhookDelivery,
      getWebhookEndpoint,
      listEvents,
      listWebhookDeliveries,
      listWebhookEndpoints,
      redeliverWebhook,
      redeliverWebhooks,
      rotateWebhookSecret,
      streamEvents,
      testWebhookEndpoint,
      updateWebhookEndpoint,
    }),
  };
}

type HandlersWith<C, H> = { [O in keyof H]: O extends OperationId ? Handler<O, C> : never };

/** Passes a capability to handlers. */
function bind<C, H extends HandlersWith<C, H>>(
  capability: C,
  handlers: H,
): { [O in keyof H & OperationId]: Handler<O> } {
  const entries = Object.entries(handlers) as [string, (call: unknown, reply: unknown, capability: C) => unknown][];
  const bound = entries.map(([name, handler]) => [
    name,
    (call: unknown, reply: unknown) => handler(call, reply, capability),
  ]);
  return Object.fromEntries(bound);
}

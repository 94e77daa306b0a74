import type { Handlers } from '../http/contract.ts';
import { createApiClient } from './api-clients/createApiClient.ts';
import { disableApiClient } from './api-clients/disableApiClient.ts';
import { listApiClients } from './api-clients/listApiClients.ts';
import { rotateApiClientSecret } from './api-clients/rotateApiClientSecret.ts';
import { createConnectedAccount } from './connected-accounts/createConnectedAccount.ts';
import { deleteConnectedAccount } from './connected-accounts/deleteConnectedAccount.ts';
import { disconnectConnectedAccount } from './connected-accounts/disconnectConnectedAccount.ts';
import { getConnectedAccountAuth } from './connected-accounts/getConnectedAccountAuth.ts';
import { getConnectedAccountDetails } from './connected-accounts/getConnectedAccountDetails.ts';
import { listConnectedAccounts } from './connected-accounts/listConnectedAccounts.ts';
import { listRevocations } from './connected-accounts/listRevocations.ts';
import { searchConnectedAccounts } from './connected-accounts/searchConnectedAccounts.ts';
import { updateConnectedAccount } from './connected-accounts/updateConnectedAccount.ts';
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
import { updateEnvironment } from './environment/updateEnvironment.ts';
import { getExecution } from './executions/getExecution.ts';
import { listExecutions } from './executions/listExecutions.ts';
import { downloadFile } from './files/downloadFile.ts';
import { generateMagicLink } from './links/generateMagicLink.ts';
import { verifyUser } from './links/verifyUser.ts';
import { createMcpConfig } from './mcp/createMcpConfig.ts';
import { createMcpSessionToken } from './mcp/createMcpSessionToken.ts';
import { deleteMcpConfig } from './mcp/deleteMcpConfig.ts';
import { getMcpConfig } from './mcp/getMcpConfig.ts';
import { listMcpConfigs } from './mcp/listMcpConfigs.ts';
import { updateMcpConfig } from './mcp/updateMcpConfig.ts';
import { getAuthorizationServerMetadata } from './oauth/getAuthorizationServerMetadata.ts';
import { getIdentityProviderMetadata } from './oauth/getIdentityProviderMetadata.ts';
import { getJwks } from './oauth/getJwks.ts';
import { issueToken } from './oauth/issueToken.ts';
import { getProvider } from './providers/getProvider.ts';
import { listProviders } from './providers/listProviders.ts';
import { getHealth } from './service/getHealth.ts';
import { getReadiness } from './service/getReadiness.ts';
import { createTool } from './tools/createTool.ts';
import { deleteTool } from './tools/deleteTool.ts';
import { executeTool } from './tools/executeTool.ts';
import { getTool } from './tools/getTool.ts';
import { importTools } from './tools/importTools.ts';
import { listScopedTools } from './tools/listScopedTools.ts';
import { listTools } from './tools/listTools.ts';
import { searchTools } from './tools/searchTools.ts';
import { updateTool } from './tools/updateTool.ts';

/** Every operation of the contract with its handler; one missing or too many is a compile error. */
export const handlers: Handlers = {
  createApiClient,
  createConnectedAccount,
  createConnection,
  createCustomProvider,
  createMcpConfig,
  createMcpSessionToken,
  deleteConnectedAccount,
  deleteConnection,
  deleteCustomProvider,
  deleteMcpConfig,
  disableApiClient,
  disableConnection,
  disconnectConnectedAccount,
  enableConnection,
  executeTool,
  searchTools,
  listScopedTools,
  deleteTool,
  updateTool,
  createTool,
  generateMagicLink,
  getAuthorizationServerMetadata,
  getConnectedAccountAuth,
  getConnectedAccountDetails,
  getConnection,
  getCustomProvider,
  getEnvironment,
  getExecution,
  getHealth,
  getIdentityProviderMetadata,
  getJwks,
  getMcpConfig,
  getProvider,
  getReadiness,
  getTool,
  issueToken,
  listApiClients,
  listConnectedAccounts,
  listConnections,
  listExecutions,
  downloadFile,
  listMcpConfigs,
  listProviders,
  listRevocations,
  importTools,
  listTools,
  rotateApiClientSecret,
  searchConnectedAccounts,
  syncProviderTools,
  updateConnectedAccount,
  updateConnection,
  updateCustomProvider,
  updateMcpConfig,
  updateEnvironment,
  verifyUser,
};

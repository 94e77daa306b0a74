import { adaptToUpgrade } from '../core/connections/catalogue-change.ts';
import { createJobQueue } from '../core/jobs/queue.ts';
import type { Config, Secrets } from '../http/config/config.ts';
import { createAccountParts } from './accounts.ts';
import { startBackground } from './background.ts';
import { createCapabilities } from './capabilities.ts';
import { checkVerification } from './check-verification.ts';
import { createCompanyLogin } from './company-login.ts';
import { createEventParts } from './events.ts';
import { createExecutionParts } from './executions.ts';
import { registerInstance } from './instance.ts';
import { type FirstStart, openKeys } from './keys.ts';
import { createLinkParts } from './links.ts';
import { createListChangesParts } from './list-changes.ts';
import { createOutbound } from './outbound.ts';
import { choosing, type Overrides } from './overrides.ts';
import type { Parts } from './parts.ts';
import { createRequestParts } from './requests.ts';
import { createRuntime } from './runtime.ts';
import type { Setup } from './setup.ts';
import { openStorage } from './storage.ts';
import { startTelemetry } from './telemetry.ts';
import { createTools } from './tools.ts';
import { createUpstreamMcp } from './upstream-mcp.ts';
import { createWebhookParts } from './webhooks.ts';

/**
 * Creates all parts of the server, each from those created before it. An override replaces a part where it is created,
 * so every later part uses the replacement.
 *
 * @throws ConfigError, VaultError, StorageError with a message for the operator; everything that was opened is closed
 * first
 */
export async function createApplication(
  config: Config,
  secrets: Secrets,
  overrides: Overrides = {},
): Promise<{ parts: Parts; firstStart: FirstStart }> {
  await using closing = new AsyncDisposableStack();
  const setup: Setup = { config, secrets, choose: choosing(overrides), closing };

  const runtime = createRuntime(setup);
  await startTelemetry(setup, runtime);
  const storage = await openStorage(setup, runtime);
  const createsKeys = !storage.isShared;
  // Checked first, so that a start which is refused does not store its base URL.
  await checkVerification({ ...runtime, ...storage }, createsKeys ? config.baseUrl : null);
  const { firstStart, ...keys } = await openKeys(setup, { ...runtime, ...storage }, createsKeys);
  const base = { ...runtime, ...storage, ...keys };
  const registration = await registerInstance(setup, base);

  const outbound = createOutbound(setup, base);
  const tools = createTools(setup, base);
  const upstream = createUpstreamMcp(setup, base);
  const jobQueue = createJobQueue(base);
  const webhooks = createWebhookParts(setup, { ...base, jobQueue });
  const lists = createListChangesParts({ ...base, ...tools });
  const sinks = [webhooks.webhookSink, lists.listChanges.sink, ...(overrides.eventSinks ?? [])];
  const events = createEventParts({ ...base, ...tools, ...upstream }, sinks);
  const shared = {
    ...base,
    ...registration,
    ...outbound,
    ...tools,
    ...upstream,
    ...events,
    jobQueue,
    ...webhooks,
    ...lists,
  };
  await adaptToUpgrade(shared);

  const accounts = createAccountParts(setup, shared);
  const links = createLinkParts(shared);
  const executions = createExecutionParts(setup, shared);
  const background = startBackground(setup, { ...shared, ...accounts });
  const requests = createRequestParts(setup, shared);

  const all = { ...shared, ...accounts, ...links, ...executions, ...background, ...requests };
  const opened = closing.move();
  const withConfig = { config, companyLogin: createCompanyLogin(setup), ...all };
  const capabilities = createCapabilities(withConfig);
  const parts = { ...withConfig, capabilities, close: () => opened.disposeAsync() };
  return { parts, firstStart };
}

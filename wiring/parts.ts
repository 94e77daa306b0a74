import type { JobQueue } from '../core/jobs/queue.ts';
import type { CompanyLogin } from '../core/operators/company-login.ts';
import type { Capabilities } from '../handlers/index.ts';
import type { Config } from '../http/config/config.ts';
import type { AccountParts } from './accounts.ts';
import type { Background } from './background.ts';
import type { EventParts } from './events.ts';
import type { ExecutionParts } from './executions.ts';
import type { Registration } from './instance.ts';
import type { Keys } from './keys.ts';
import type { LinkParts } from './links.ts';
import type { ListChangesParts } from './list-changes.ts';
import type { Outbound } from './outbound.ts';
import type { RequestParts } from './requests.ts';
import type { Runtime } from './runtime.ts';
import type { Storage } from './storage.ts';
import type { Tools } from './tools.ts';
import type { UpstreamMcp } from './upstream-mcp.ts';
import type { WebhookParts } from './webhooks.ts';

/** All parts of a server, each from the file that creates it. Only tests use all of them. */
export interface Parts
  extends Runtime,
    Storage,
    Keys,
    Outbound,
    Tools,
    UpstreamMcp,
    EventParts,
    AccountParts,
    LinkParts,
    ListChangesParts,
    ExecutionParts,
    Background,
    RequestParts,
    WebhookParts,
    Registration {
  readonly config: Config;
  /** How operators log in at the OpenID provider of their company; null if they use one-time addresses only. */
  readonly companyLogin: CompanyLogin | null;
  /** Adds durable jobs. */
  readonly jobQueue: JobQueue;
  /** The parts that the handlers of each group of operations use. */
  readonly capabilities: Capabilities;
  /** Closes everything that was opened, in the reverse order. */
  close(): Promise<void>;
}

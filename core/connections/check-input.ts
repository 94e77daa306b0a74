import type { EnvironmentRow, Transaction } from '../../db/store.ts';
import type { Definition } from '../accounts/binding.ts';
import { mayTurnVerificationOff } from '../accounts/links/verification.ts';
import type { ProviderDefinition } from '../connectors/provider.ts';
import { type ProviderToolDeps, toolsOfProvider } from '../discovery/provider-tools.ts';
import type { FieldError } from '../errors.ts';
import { ApiError } from '../errors.ts';
import { Secret } from '../secret.ts';
import { RAW_CALL } from '../tools/tool.ts';
import { entryProblem } from './allowed-addresses.ts';
import { clientSecretProblem } from './check-secret.ts';
import type { BoundConnection } from './client.ts';
import { type ClientInput, checkAddresses } from './set-client.ts';

/** The fields of a request that creates or updates a connection, named as in the contract; `null` clears a field. */
export interface ConnectionInput extends ClientInput {
  organization_id?: string | null | undefined;
  organization_name?: string | null | undefined;
  domains?: string[] | null | undefined;
  enabled?: boolean | undefined;
  scopes?: string[] | null | undefined;
  allowed_tools?: string[] | null | undefined;
  mcp_timeout_seconds?: number | null | undefined;
  send_trace_context?: boolean | undefined;
  verification_mode?: string | null | undefined;
  post_user_verify_redirect_url?: string | null | undefined;
}

/**
 * Checks the settings of a request that creates or updates a connection.
 *
 * @throws ApiError VALIDATION_FAILED
 */
export async function checkInput(
  tx: Transaction,
  deps: ProviderToolDeps,
  environment: EnvironmentRow,
  provider: ProviderDefinition | undefined,
  definition: Definition | undefined,
  stored: BoundConnection,
  input: ConnectionInput,
): Promise<void> {
  const errors: FieldError[] = [];
  const isDevelopment = environment.kind === 'DEVELOPMENT';
  if (input.verification_mode === 'NONE' && !mayTurnVerificationOff(environment)) {
    const message = 'must not be NONE, except in a development environment with a loopback base URL';
    errors.push({ field: 'verification_mode', message });
  }
  const redirect = input.post_user_verify_redirect_url;
  if (redirect && !isRedirectTarget(redirect, isDevelopment)) {
    errors.push({
      field: 'post_user_verify_redirect_url',
      message: 'must be an https URL without a user name or password; in development also http on loopback',
    });
  }
  for (const [index, entry] of (input.allowed_addresses ?? []).entries()) {
    const message = entryProblem(entry);
    if (message) errors.push({ field: `allowed_addresses[${index}]`, message });
  }
  errors.push(...checkAddresses(stored, definition, input), ...checkSecret(definition, input));
  if (input.allowed_tools) errors.push(...(await checkTools(tx, deps, environment, provider, input.allowed_tools)));
  if (errors.length > 0)
    throw new ApiError('VALIDATION_FAILED', 'The settings of the connection are invalid.', { errors });
}

async function checkTools(
  tx: Transaction,
  deps: ProviderToolDeps,
  environment: EnvironmentRow,
  provider: ProviderDefinition | undefined,
  names: readonly string[],
): Promise<FieldError[]> {
  const known = provider ? await toolsOfProvider(tx, deps, environment.id, provider) : [];
  const allowed = new Set([RAW_CALL, ...known.map(({ ownName }) => ownName)]);
  return names.flatMap((name, index) => {
    const message = `is not the name of a tool of this connector: ${name}`;
    return allowed.has(name) ? [] : [{ field: `allowed_tools[${index}]`, message }];
  });
}

function checkSecret(definition: Definition | undefined, { client_secret: secret }: ConnectionInput): FieldError[] {
  if (!secret) return [];
  const message = definition
    ? clientSecretProblem(definition.pattern, new Secret(secret))
    : 'cannot be set: the provider of the connection was deleted';
  return message === undefined ? [] : [{ field: 'client_secret', message }];
}

function isRedirectTarget(text: string, isDevelopment: boolean): boolean {
  const url = URL.parse(text);
  if (!url || url.username || url.password) return false;
  if (url.protocol === 'https:') return true;
  return isDevelopment && url.protocol === 'http:' && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname);
}

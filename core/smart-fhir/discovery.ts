import { isSecureAddress } from '../connectors/secure-address.ts';
import { readCallOutcome } from '../oauth/call-outcome.ts';
import { OAuthConfigError } from '../oauth/config-error.ts';
import { outcomeOfProblem } from '../oauth/problem.ts';
import { clientRefused, type TokenFailure, unavailable } from '../oauth/refresh-outcome.ts';
import { DOCUMENT, type FetchFor } from '../oauth/transport.ts';
import { readSmartConfiguration, type SmartConfiguration, type SmartUse } from './smart-configuration.ts';

export interface SmartDiscoveryRequest {
  /** The base URL of the FHIR server. */
  fhirBase: string;
  use: SmartUse;
  fetchFor: FetchFor;
  /** Milliseconds UTC. */
  now: () => number;
}

export type SmartDiscovered = { ok: true; configuration: SmartConfiguration } | TokenFailure;

/**
 * Reads the SMART configuration of a FHIR server (SMART App Launch 2.2, "Conformance"). The base address determines
 * where the user is redirected, so only the administrator of the connection or the user may set it.
 *
 * @returns a failure of kind `client` if the server has no SMART configuration or lacks a required capability
 * @throws errors that are bugs
 */
export async function discoverSmart(request: SmartDiscoveryRequest): Promise<SmartDiscovered> {
  try {
    const address = smartConfigurationAddress(request.fhirBase);
    const fetch = await request.fetchFor([address.origin]);
    const response = await fetch(address, DOCUMENT);
    const outcome = await readCallOutcome(response, undefined, request.now());
    if (!outcome.ok && outcome.kind === 'unavailable') {
      return unavailable(
        outcome.reason,
        false,
        outcome.retryAfterMs,
        `The FHIR server did not return its SMART configuration: ${outcome.message}`,
      );
    }
    if (!outcome.ok) return client(`The FHIR server publishes no SMART configuration at ${address.href}.`);
    const read = readSmartConfiguration(outcome.body, request.use, address);
    return read.ok ? read : client(read.message);
  } catch (error) {
    const failure = outcomeOfProblem(error);
    return failure.kind === 'unavailable' ? { ...failure, mayBeSpent: false } : failure;
  }
}

/**
 * Returns the address of the configuration, which is below the base address, not at the root of its host.
 *
 * @throws OAuthConfigError for a base address that is neither https nor http on this machine, or that has a user name,
 * query or fragment
 */
export function smartConfigurationAddress(fhirBase: string): URL {
  const url = URL.parse(fhirBase);
  if (url === null || !isSecureAddress(url) || /[?#@{}\\]/.test(fhirBase)) {
    throw new OAuthConfigError(
      'The base URL of the FHIR server must be an https URL without a user name, query or fragment.',
      { faultyPart: 'account' },
    );
  }
  url.pathname = `${url.pathname.replace(/\/$/, '')}/.well-known/smart-configuration`;
  return url;
}

function client(message: string): TokenFailure {
  return clientRefused(message);
}

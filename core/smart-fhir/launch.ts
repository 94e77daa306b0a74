import type { SmartTarget } from './smart-provider.ts';

/** `mismatch`: another FHIR server than the connection's. `malformed`: no record system would send it. */
export type Launch = { ok: true; target: Required<SmartTarget> } | { ok: false; kind: 'mismatch' | 'malformed' };

/** Opaque, and without the marks of our own places. */
const HANDLE = /^[\x21-\x7a\x7c\x7e]{1,2048}$/;

/**
 * Reads how a record system starts an application (SMART App Launch 2.2, "Launch App: EHR Launch"). Anybody can send a browser here,
 * so the server that it names must be one that is known already; the handle proves nothing until that server accepts it.
 *
 * @param query of the launch address: `iss` and `launch`
 * @param fhirBase of the connection or the account
 */
export function readLaunch(query: URLSearchParams, fhirBase: string): Launch {
  const [issuer, ...moreIssuers] = query.getAll('iss');
  const [launch, ...moreHandles] = query.getAll('launch');
  if (issuer === undefined || launch === undefined || moreIssuers.length > 0 || moreHandles.length > 0) {
    return { ok: false, kind: 'malformed' };
  }
  if (withoutSlash(issuer) !== withoutSlash(fhirBase)) return { ok: false, kind: 'mismatch' };
  // As the server writes itself: it compares `aud` with that.
  return HANDLE.test(launch) ? { ok: true, target: { fhirBase: issuer, launch } } : { ok: false, kind: 'malformed' };
}

function withoutSlash(address: string): string {
  return address.endsWith('/') ? address.slice(0, -1) : address;
}

import { Secret } from '../secret.ts';

/** Temporary credentials of the cloud. The API only returns their id and expiry. */
export interface TemporaryCredentials {
  accessKeyId: string;
  secretAccessKey: Secret;
  sessionToken: Secret;
  /** When they expire by our clock, milliseconds UTC. */
  expiresAt: number;
}

/**
 * The fields of `trusted_idp` that Valetkey sets itself, named as in the contract. They contain secrets, so they must
 * be stored encrypted.
 */
export interface TemporaryDetails {
  access_key_id: string;
  secret_access_key: string;
  session_token: string;
  /** RFC 3339. */
  expiry: string;
}

export function toTemporaryDetails(credentials: TemporaryCredentials): TemporaryDetails {
  return {
    access_key_id: credentials.accessKeyId,
    secret_access_key: credentials.secretAccessKey.reveal(),
    session_token: credentials.sessionToken.reveal(),
    expiry: new Date(credentials.expiresAt).toISOString(),
  };
}

/**
 * Reads the output of `toTemporaryDetails`. Returns null if a field is missing or invalid; all are missing before the
 * first credentials are obtained.
 */
export function fromTemporaryDetails(details: Readonly<Record<string, unknown>>): TemporaryCredentials | null {
  const { access_key_id, secret_access_key, session_token, expiry } = details;
  if (typeof access_key_id !== 'string' || typeof secret_access_key !== 'string') return null;
  if (typeof session_token !== 'string' || typeof expiry !== 'string') return null;
  const expiresAt = Date.parse(expiry);
  if (Number.isNaN(expiresAt)) return null;
  return {
    accessKeyId: access_key_id,
    secretAccessKey: new Secret(secret_access_key),
    sessionToken: new Secret(session_token),
    expiresAt,
  };
}

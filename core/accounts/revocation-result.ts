/**
 * The results of a revocation job that did not fail. `NOT_REVOCABLE`: the provider does not support revocation, or
 * revoking the tokens could end the access of another account.
 */
export const REVOKED = 'REVOKED';
export const NOT_REVOCABLE = 'NOT_REVOCABLE';

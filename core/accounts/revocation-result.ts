/** The results of a job whose tokens were revoked, or cannot be revoked. */
export const REVOKED = 'REVOKED';
export const NOT_REVOCABLE = 'NOT_REVOCABLE';

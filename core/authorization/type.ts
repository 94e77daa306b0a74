import type { components } from '../../generated/api.d.ts';

/** How an account authenticates: the values of `authorization_type`, as the contract lists them. */
export type AuthorizationType = components['schemas']['AuthorizationType'];

/** The coarser types by which the contract lists connections. */
export type ConnectionType = components['schemas']['ConnectionType'];

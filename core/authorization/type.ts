import type { components } from '../../generated/api.d.ts';

/** The values of `authorization_type` in the contract. */
export type AuthorizationType = components['schemas']['AuthorizationType'];

/** The types of connections in the contract; there are fewer of them than authorization types. */
export type ConnectionType = components['schemas']['ConnectionType'];

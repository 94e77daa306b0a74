import type { ServerSettings } from '../environments/server-settings.ts';
import { optionalTime } from './optional.ts';
import type { Schemas } from './schemas.ts';

export function presentServerSettings(settings: ServerSettings): Schemas['ServerSettings'] {
  return {
    allowed_addresses: settings.allowedAddresses.map(({ host, port }) => `${host}:${port}`),
    endpoint_overrides: settings.endpointOverrides.map(({ origin, target }) => ({ origin, target })),
    encryption_keys: settings.keys.map(({ id, state, createdAt }) => ({
      id,
      state,
      created_at: optionalTime(createdAt),
    })),
    console_issuer: settings.consoleIssuer,
  };
}

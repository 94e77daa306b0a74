import type { Config } from '../../http/config/config.ts';
import { unknownSettings } from '../../http/config/unknown-settings.ts';
import type { Logger } from '../../http/monitoring/log.ts';

/** Logs a warning for each unknown setting, and for settings that let development environments call local addresses. */
export function warnOfSettings(config: Config, log: Logger): void {
  for (const warning of unknownSettings(process.env)) log.warn(warning);
  if (config.egressAllow)
    log.warn({ allow: config.egressAllow }, 'development environments may reach these local addresses');
  if (config.endpointOverrides)
    log.warn({ overrides: config.endpointOverrides }, 'development environments call these origins locally');
}

import { editDistance } from '../../core/text/edit-distance.ts';
import { SETTINGS } from './config.ts';
import { unsupportedTelemetry } from './telemetry.ts';

const PREFIX = 'VALETKEY_';
/** Variables of commands that use the API, and one that the program sets for itself. */
const OTHERS = ['VALETKEY_URL', 'VALETKEY_TOKEN', 'VALETKEY_REEXEC'];
/** A name counts as misspelled up to this many changed characters; a short name, up to a third of its characters. */
const MAX_CHANGES = 3;

/**
 * Returns warnings about environment variables that look like settings but are not.
 *
 * @returns one sentence for each, with the setting that was probably meant
 */
export function unknownSettings(env: Readonly<Record<string, string | undefined>>): string[] {
  const known: readonly string[] = [...SETTINGS, ...OTHERS];
  const unknown = Object.keys(env).filter((name) => name.startsWith(PREFIX) && !known.includes(name));
  const meanings = unknown.sort().map((name) => {
    const meant = nearest(name);
    return `${name} is not a setting${meant === undefined ? '' : `; did you mean ${meant}?`}`;
  });
  return [...meanings, ...unsupportedTelemetry(env)];
}

function nearest(name: string): string | undefined {
  const bare = name.slice(PREFIX.length);
  const limit = Math.min(MAX_CHANGES, Math.floor(bare.length / 3));
  const distances = SETTINGS.map((setting) => {
    const changes = Math.min(editDistance(name, setting), editDistance(bare, setting));
    return { setting, changes };
  });
  distances.sort((a, b) => a.changes - b.changes);
  const [first] = distances;
  return first && first.changes <= limit ? first.setting : undefined;
}

import { editDistance } from '../../core/text/edit-distance.ts';
import { SETTINGS } from './settings.ts';
import { unsupportedTelemetry } from './telemetry.ts';

const PREFIX = 'VALETKEY_';
const OWN_PREFIX = /^VALET_?KEY/i;
/**
 * A name, with or without the prefix of Valetkey, counts as a misspelled setting if its edit distance from the setting,
 * ignoring case and underscores, is at most the length of the setting divided by this number. Settings with fewer
 * characters than this number are not compared, because they resemble many other names: HOST, for example, resembles
 * HOME.
 */
const CHARACTERS_PER_CHANGE = 6;
/**
 * Variables that are not settings of the server: two for commands that use the API, `VALETKEY_REEXEC`, which the
 * program sets for itself, and `VALETKEY_BUILT`, which `make run` sets.
 */
const OTHERS = ['VALETKEY_URL', 'VALETKEY_TOKEN', 'VALETKEY_REEXEC', 'VALETKEY_BUILT'];
/**
 * A name with the prefix also counts as a misspelled setting if it differs from the setting by at most this many
 * characters, and by at most a third of its length without the prefix.
 */
const MAX_CHANGES = 3;

/**
 * Returns warnings about environment variables that look like settings but are not: names with the prefix of Valetkey,
 * and names that resemble one of its settings.
 *
 * @returns one sentence for each, with the setting that was probably meant
 */
export function unknownSettings(env: Readonly<Record<string, string | undefined>>): string[] {
  const known: readonly string[] = [...SETTINGS, ...OTHERS];
  const unknown = Object.keys(env).filter((name) => !known.includes(name));
  const meanings = unknown.sort().flatMap((name) => {
    const isOurs = OWN_PREFIX.test(name);
    const meant = resembled(name) ?? (isOurs ? nearest(name) : undefined);
    if (meant === undefined && !isOurs) return [];
    return `${name} is not a setting${meant === undefined ? '' : `; did you mean ${meant}?`}`;
  });
  return [...meanings, ...unsupportedTelemetry(env)];
}

/** Returns the setting that a name such as `LOGLEVEL` or `VALTKEY_KEYS` resembles; ignores case and underscores. */
function resembled(name: string): string | undefined {
  const plain = bareOf(name);
  return SETTINGS.find((setting) => {
    const own = bareOf(setting);
    const most = Math.floor(own.length / CHARACTERS_PER_CHANGE);
    // The lengths are compared first, because that is cheap and excludes most names: the distance is at least their
    // difference.
    return (
      own.length >= CHARACTERS_PER_CHANGE &&
      Math.abs(own.length - plain.length) <= most &&
      editDistance(plain, own) <= most
    );
  });
}

function bareOf(name: string): string {
  return name.replaceAll('_', '').toUpperCase();
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

import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';

/** A description that a vendor, or a directory of descriptions, publishes as a package or in a repository. */
export interface Source {
  /** The name of an npm package… */
  package?: string;
  /** …or of a repository at GitHub, with the commit. */
  repository?: string;
  commit?: string;
  /** The file in it. */
  file: string;
  /** The part of the description's paths that the base address of the connector already contains. */
  under?: string;
  /** The prefix of the paths of tools, which those of the description lack. */
  prefix?: string;
  /** Whether bodies may be JSON although the description has another type: it shows uploads, or forms. */
  json?: boolean;
  /** A text that the paths of the description contain, and those of tools leave out. */
  without?: string;
  /** Members that the description requires everywhere, but the API does not. */
  unneeded?: string[];
  /** Parameters that carry the credential. */
  credentials?: string[];
  /** Whether a parameter of a path may have several segments (Google's resource names). */
  deep?: boolean;
  /** Whether one of the scopes that the description lists for an operation suffices. */
  anyScope?: boolean;
}

const ROOT = new URL('../../', import.meta.url);
/** The ignored folder that `make catalogue-vendors` installs descriptions into. */
export const FOLDER = new URL('.catalogue/vendors/', ROOT);

/** Reads a list of descriptions: one, or several, for each connector. */
export async function readSources(file = 'catalogue/vendors.yaml'): Promise<Map<string, Source[]>> {
  const listed = parse(await readFile(new URL(file, ROOT), 'utf8')) as Record<string, Source | Source[]>;
  return new Map(Object.entries(listed).map(([connector, sources]) => [connector, [sources].flat()]));
}

export function locationOf(source: Source, folder = FOLDER): URL {
  const path = source.package
    ? `node_modules/${source.package}/${source.file}`
    : `repositories/${source.repository}/${source.commit}/${source.file}`;
  return new URL(path, folder);
}

/** Returns the text by which a tool names the description that it was compared with. */
export async function stampOf(source: Source): Promise<string> {
  if (source.repository) return `${source.repository} ${source.commit?.slice(0, 8)}, ${source.file}`;
  const manifest = JSON.parse(
    await readFile(new URL(`node_modules/${source.package}/package.json`, FOLDER), 'utf8'),
  ) as { version: string };
  return `${source.package} ${manifest.version}, ${source.file}`;
}

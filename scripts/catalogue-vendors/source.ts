import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';

/** A description that a vendor, or a directory of descriptions, publishes as a package or in a repository. */
export interface Source {
  /** The name of an npm package… */
  package?: string;
  /** …or of a repository at GitHub, with the commit. */
  repository?: string;
  commit?: string;
  /** The path of the file in the package or the repository. */
  file: string;
  /** The beginning of the description's paths that the connector's base address already contains. */
  under?: string;
  /** A beginning that the paths of tools have, and those of the description do not. */
  prefix?: string;
  /** Whether tools may send JSON where the description only has another media type, such as a form. */
  json?: boolean;
  /** A text in the paths of the description that the paths of tools do not have. */
  without?: string;
  /** An ending that the paths of tools have, and those of the description do not. */
  suffix?: string;
  /** Further files of the description, which the file refers to. */
  beside?: string[];
  /** The base address of the references between the files. The rest of a reference is the path of a file. */
  home?: string;
  /** Members that the description requires in every request, although the API does not. */
  unneeded?: string[];
  /** Whether the description writes names of members with a capital first letter, and the API with a small one. */
  small?: boolean;
  /** Parameters that carry the credential. */
  credentials?: string[];
  /** Whether a path parameter may contain several segments, as Google's resource names do. */
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

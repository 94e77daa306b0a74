/**
 * A description of each pattern in the contract, because a regular expression in an error message is hard to
 * understand.
 */
const WORDS: Readonly<Record<string, string>> = {
  '^[^\\u0000-\\u001f\\u007f-\\u009f]*$': 'must not contain control characters',
  '^[ -~]*$': 'must contain only printable ASCII characters',
  '^[ -~]+$': 'must contain only printable ASCII characters',
  '^[\\x21-\\x7e]+$': 'must contain only printable ASCII characters without spaces',
  '^[!#-\\[\\]-~]+$': 'must contain only printable ASCII characters without spaces, quotation marks and backslashes',
  '^(https://\\S+)?$': 'must be empty or a URL that starts with https:// and has no spaces',
  '^https://\\S+$': 'must be a URL that starts with https:// and has no spaces',
  '^https?://\\S+$': 'must be a URL that starts with https:// or http:// and has no spaces',
  '^https?://': 'must start with https:// or http://',
  '^ca_[0-9a-hjkmnp-tv-z]{26}$': 'must be the id of a connected account: ca_ and 26 lower-case letters and digits',
  '^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,3}$': 'must be a language tag such as de or pt-BR',
  '^#[0-9A-Fa-f]{6}$': 'must be a color such as #1f4fb4',
  '^data:image/(png|jpeg|svg\\+xml);base64,[A-Za-z0-9+/]+={0,2}$':
    'must be a data URL of a PNG, JPEG or SVG image in base64',
  '^[a-z0-9_]{1,64}$': 'must be a name of 1 to 64 lower-case letters, digits and underscores',
  '^[a-z][a-z0-9_]{0,63}$':
    'must be a name of at most 64 lower-case letters, digits and underscores that starts with a letter',
  '^[a-z][a-z0-9_]{0,39}$':
    'must be a name of at most 40 lower-case letters, digits and underscores that starts with a letter',
  '^[a-z][a-z0-9_]{1,39}$':
    'must be a name of 2 to 40 lower-case letters, digits and underscores that starts with a letter',
  '^[a-z0-9]+(-[a-z0-9]+)*$': 'must contain only lower-case letters, digits and inner hyphens',
  '^[a-z0-9-]{1,40}$': 'must be a name of 1 to 40 lower-case letters, digits and hyphens',
  '^[A-Za-z][A-Za-z0-9-]*$': 'must start with a letter and contain only letters, digits and hyphens',
  '^[A-Za-z0-9 _:-]+$': 'must contain only letters, digits, spaces, hyphens, underscores and colons',
  '^[A-Za-z0-9_-]+$': 'must contain only letters, digits, hyphens and underscores',
  '^[A-Za-z0-9_.-]+$': 'must contain only letters, digits, hyphens, underscores and dots',
  '^[A-Za-z0-9_.\\[\\]-]+$': 'must contain only letters, digits, hyphens, underscores, dots and square brackets',
  '^[A-Za-z0-9_]+(\\.[A-Za-z0-9_]+)*$': 'must be names of letters, digits and underscores, with a dot between two',
};

/** @returns undefined for a pattern that is not in the contract */
export function describePattern(pattern: string): string | undefined {
  return Object.hasOwn(WORDS, pattern) ? WORDS[pattern] : undefined;
}

/** Exported for the test that compares them with the contract. */
export const EXPLAINED_PATTERNS: readonly string[] = Object.keys(WORDS);

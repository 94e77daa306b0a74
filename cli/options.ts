import { InvalidArgumentError } from 'commander';

/** Returns a parser of an option's value. @throws InvalidArgumentError, which commander reports with the option */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d{1,9}$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}

/** Parses an origin, such as the address of a server. */
export function origin(text: string): string {
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return url.origin;
  throw new InvalidArgumentError('It must be an origin such as https://api.example.com.');
}

/** Collects the values of an option that can be repeated. */
export function repeated(text: string, before: string[] | undefined): string[] {
  return [...(before ?? []), text];
}

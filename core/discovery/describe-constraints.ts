type Data = Readonly<Record<string, unknown>>;

/**
 * The maximum length of the sentence for one constraint, in characters. Longer sentences are omitted: the server checks
 * the constraint, and a model rarely needs it.
 */
const MAX_SENTENCE = 200;

/** Returns the description of a schema, followed by its constraints in words. */
export function describeConstraints(schema: Data): string {
  const text = typeof schema['description'] === 'string' ? schema['description'].trim() : '';
  const words = sentences(schema).filter((sentence) => sentence !== '' && sentence.length <= MAX_SENTENCE);
  const ended = text === '' || words.length === 0 || /[.!?…:]$/.test(text) ? text : `${text}.`;
  return [ended, ...words].filter((part) => part !== '').join(' ');
}

function sentences(schema: Data): string[] {
  const { format, pattern, exclusiveMinimum, exclusiveMaximum, multipleOf, uniqueItems, default: value } = schema;
  return [
    typeof format === 'string' && format !== 'file' ? `Format: ${format}.` : '',
    typeof pattern === 'string' ? `Pattern: ${pattern}` : '',
    range(schema, 'minLength', 'maxLength', ' characters'),
    range(schema, 'minimum', 'maximum', ''),
    typeof exclusiveMinimum === 'number' ? `More than ${exclusiveMinimum}.` : '',
    typeof exclusiveMaximum === 'number' ? `Less than ${exclusiveMaximum}.` : '',
    typeof multipleOf === 'number' ? `A multiple of ${multipleOf}.` : '',
    range(schema, 'minItems', 'maxItems', ' items'),
    uniqueItems === true ? 'Items must be unique.' : '',
    range(schema, 'minProperties', 'maxProperties', ' members'),
    value === undefined ? '' : `Default: ${JSON.stringify(value)}.`,
  ];
}

function range(schema: Data, low: string, high: string, unit: string): string {
  const [from, to] = [schema[low], schema[high]];
  if (typeof to !== 'number') return typeof from === 'number' ? `${from}${unit} or more.` : '';
  return typeof from === 'number' ? `${from} to ${to}${unit}.` : `At most ${to}${unit}.`;
}

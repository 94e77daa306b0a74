/**
 * The named character references of HTML (HTML §13.5) for ASCII characters. Only these and those for Latin-1 (below)
 * are known, because credentials rarely contain other characters.
 */
const ASCII: Record<string, string> = {
  ...{
    amp: '&',
    AMP: '&',
    lt: '<',
    LT: '<',
    gt: '>',
    GT: '>',
    quot: '"',
    QUOT: '"',
    apos: "'",
    Tab: '\t',
    NewLine: '\n',
  },
  ...{
    excl: '!',
    num: '#',
    dollar: '$',
    percnt: '%',
    lpar: '(',
    rpar: ')',
    ast: '*',
    midast: '*',
    plus: '+',
    comma: ',',
  },
  ...{ period: '.', sol: '/', colon: ':', semi: ';', equals: '=', quest: '?', commat: '@', lsqb: '[', lbrack: '[' },
  ...{ bsol: '\\', rsqb: ']', rbrack: ']', Hat: '^', lowbar: '_', UnderBar: '_', grave: '`', DiacriticalGrave: '`' },
  ...{
    lcub: '{',
    lbrace: '{',
    verbar: '|',
    vert: '|',
    VerticalLine: '|',
    rcub: '}',
    rbrace: '}',
    hyphen: '-',
    dash: '-',
  },
};

/** The references from U+00A0 to U+00FF, in order. */
const LATIN_1 = (
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot ' +
  'cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml ' +
  'Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig ' +
  'agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ' +
  'ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml'
).split(' ');

const CODE_POINTS = new Map<string, number>([
  ...Object.entries(ASCII).map(([name, text]): [string, number] => [name, text.codePointAt(0) ?? 0]),
  ...LATIN_1.map((name, index): [string, number] => [name, 0xa0 + index]),
]);

export const LONGEST_NAME = Math.max(...[...CODE_POINTS.keys()].map((name) => name.length));

/** Returns the code point of a named reference; undefined if the name is unknown. */
export function entityNamed(name: string): number | undefined {
  return CODE_POINTS.get(name);
}

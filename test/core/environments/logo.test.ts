import { expect } from 'chai';
import { readLogo } from '../../../core/environments/logo.ts';

const dataUrl = (type: string, bytes: Buffer | string) =>
  `data:image/${type};base64,${Buffer.from(bytes).toString('base64')}`;

function png(width: number, height: number): Buffer {
  const header = Buffer.alloc(33);
  Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').copy(header);
  header.writeUInt32BE(width, 16);
  header.writeUInt32BE(height, 20);
  return header;
}

function jpeg(width: number, height: number): Buffer {
  const frame = Buffer.from('ffc0001108000000000301220002110103110100', 'hex');
  frame.writeUInt16BE(height, 5);
  frame.writeUInt16BE(width, 7);
  return Buffer.concat([Buffer.from('ffd8ffe000104a46494600010100000100010000', 'hex'), frame]);
}

const XMLNS = 'xmlns="http://www.w3.org/2000/svg"';
const problemOf = (url: string) => {
  const logo = readLogo(url);
  return 'problem' in logo ? logo.problem : undefined;
};

describe('readLogo', () => {
  it('accepts PNG, JPEG and SVG images', () => {
    expect(readLogo(dataUrl('png', png(64, 64)))).to.include({ mediaType: 'image/png' });
    expect(readLogo(dataUrl('jpeg', jpeg(64, 64)))).to.include({ mediaType: 'image/jpeg' });
    for (const svg of [
      '<svg xmlns="http://www.w3.org/2000/svg"><path d="m0 0h1"/></svg>',
      `<?xml version="1.0"?>\n<!-- made by a tool -->\n<svg ${XMLNS} viewBox="0 0 1 1"><use href="#a"/><g fill="url(#b)"/></svg>\n`,
      `\uFEFF<svg ${XMLNS} xmlns:xlink="http://www.w3.org/1999/xlink"><title>A &amp; B &#x41;</title><use xlink:href='#a' /></svg>`,
      `<svg ${XMLNS}><style><![CDATA[ a > b { fill: red } ]]></style><!-- <g> --><svg:g xmlns:svg="http://www.w3.org/2000/svg"></svg:g></svg>`,
    ])
      expect(problemOf(dataUrl('svg+xml', svg)), svg).to.equal(undefined);
  });

  it('gives different contents different digests', () => {
    const digests = [png(1, 1), png(1, 2)].map((bytes) => readLogo(dataUrl('png', bytes)));
    expect(digests[0])
      .to.have.property('digest')
      .not.equal((digests[1] as { digest: string }).digest);
  });

  it('rejects an image whose format differs from its declared type', () => {
    expect(problemOf(dataUrl('png', jpeg(1, 1)))).to.equal('is not a PNG image');
    expect(problemOf(dataUrl('jpeg', png(1, 1)))).to.equal('is not a JPEG image');
    expect(problemOf(dataUrl('svg+xml', '<html></html>'))).to.equal('is not an SVG image');
    expect(problemOf(dataUrl('svg+xml', png(1, 1)))).to.equal('must be UTF-8 text');
    expect(problemOf(dataUrl('gif', 'GIF89a'))).to.match(/PNG, JPEG or SVG/);
    expect(problemOf(dataUrl('png', png(0, 1)))).to.equal('is not a PNG image');
    for (let length = 0; length < 40; length += 1) {
      expect(problemOf(dataUrl('jpeg', jpeg(1, 1).subarray(0, length))) ?? '').to.match(/^$|JPEG/);
    }
  });

  it('rejects images that are large to load or to render', () => {
    expect(problemOf(dataUrl('png', png(2049, 1)))).to.match(/2048 pixels/);
    expect(problemOf(dataUrl('jpeg', jpeg(1, 65_535)))).to.match(/2048 pixels/);
    expect(problemOf(dataUrl('svg+xml', `<svg>${' '.repeat(65_536)}</svg>`))).to.match(/64 KiB/);
  });

  it('rejects SVG images that run code, load something or expand', () => {
    for (const content of [
      '<script>alert(1)</script>',
      '<SCRIPT href="x"/>',
      '<svg:script/>',
      '<foreignObject/>',
      '<g onload="alert(1)"/>',
      '<g\nonload = alert(1)/>',
      '<image href="https://tracker.example/1.png"/>',
      '<image xlink:href="//tracker.example/1.png"/>',
      '<a href="javascript:alert(1)"/>',
      '<use href="data:image/svg+xml;base64,AA"/>',
      '<style>@import "https://tracker.example"</style>',
      '<g fill="url(https://tracker.example)"/>',
    ])
      expect(problemOf(dataUrl('svg+xml', `<svg>${content}</svg>`)), content).to.match(/must not contain/);
    expect(problemOf(dataUrl('svg+xml', '<!DOCTYPE svg [<!ENTITY a "b">]><svg/>'))).to.not.equal(undefined);
  });

  it('rejects SVG images that browsers cannot show, and names the element', () => {
    for (const [content, says] of [
      [`<svg ${XMLNS}><g><path d="m0 0h1"/></svg>`, 'is not well-formed XML: found </svg> where <g> is open'],
      [`<svg ${XMLNS}><g>`, 'is not well-formed XML: <g> is not closed'],
      [`<svg ${XMLNS}>`, 'is not well-formed XML: <svg> is not closed'],
      [`<svg ${XMLNS}><path d="m0 0h1></svg>`, 'is not well-formed XML at "<path d="m0 0h1></svg>"'],
      [`<svg ${XMLNS}><g id=a></g></svg>`, 'is not well-formed XML at "<g id=a></g></svg>"'],
      [`<svg ${XMLNS}><!-- </svg>`, 'is not well-formed XML at "<!-- </svg>"'],
      [`<svg ${XMLNS}><g id="a" id="b"/></svg>`, 'is not well-formed XML: <g> has id twice'],
      [`<svg ${XMLNS}></svg></svg>`, 'is not well-formed XML: found </svg> where nothing is open'],
      [`<svg ${XMLNS}></svg><svg ${XMLNS}></svg>`, 'must have exactly one root element, <svg>'],
      [`<svg ${XMLNS}></svg>text`, 'must have no text outside of its <svg> element'],
      [`<svg ${XMLNS}><text>A & B</text></svg>`, 'must write & as &amp;'],
      [`<svg ${XMLNS}><text id="&nbsp;"/></svg>`, 'must write & as &amp;'],
      [`<svg ${XMLNS}><use xlink:href="#a"/></svg>`, 'must declare xmlns:xlink, because it uses the prefix'],
      ['<svg viewBox="0 0 1 1"><path/></svg>', 'must begin with <svg xmlns="http://www.w3.org/2000/svg">'],
      ['<svg xmlns="http://www.w3.org/1999/xhtml"></svg>', 'must begin with <svg xmlns="http://www.w3.org/2000/svg">'],
    ] as const)
      expect(problemOf(dataUrl('svg+xml', content)), content).to.equal(says);
  });

  it('takes linear time for any text', () => {
    for (const piece of [
      'href=',
      ' on',
      'url( ',
      '<!-- ',
      'href =   "',
      '<g>',
      '<g a="',
      '<?',
      '<![CDATA[',
      ' a =',
      '&',
      '   ',
    ])
      readLogo(dataUrl('svg+xml', `<svg ${XMLNS}>${piece.repeat(60_000 / piece.length)}`));
  });
});

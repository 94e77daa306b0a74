import { expect } from 'chai';
import { accentStyles, contrast, parse } from '../../web/connect/accent.ts';

const colorsOf = (styles: string) => {
  const [light = '', dark = ''] = styles.split('@media');
  const read = (part: string) => (name: string) => parse(new RegExp(`${name}: (#[0-9a-f]{6})`).exec(part)?.[1] ?? '');
  return { light: read(light), dark: read(dark) };
};

describe('accentStyles', () => {
  it('computes contrast as WCAG does', () => {
    expect(contrast(parse('#000000'), parse('#ffffff'))).to.equal(21);
    expect(contrast(parse('#777777'), parse('#ffffff'))).to.be.closeTo(4.48, 0.01);
  });

  it('keeps a readable color', () => {
    expect(accentStyles('#1f4fb4')).to.include('--accent: #1f4fb4; ');
  });

  it('makes every color readable on every background, and text readable on it', () => {
    const parts = ['00', '33', '66', '99', 'cc', 'ff'];
    for (const red of parts)
      for (const green of parts)
        for (const blue of parts) {
          const color = `#${red}${green}${blue}`;
          const { light, dark } = colorsOf(accentStyles(color));
          for (const [read, grounds] of [
            [light, ['#ffffff', '#eef1f6']],
            [dark, ['#1a202c', '#10141c']],
          ] as const) {
            for (const ground of grounds)
              for (const name of ['--accent', '--accent-strong'])
                expect(contrast(read(name), parse(ground)), `${color} ${name} on ${ground}`).to.be.at.least(4.5);
            for (const name of ['--accent', '--accent-strong'])
              expect(contrast(read('--on-accent'), read(name)), `${color} text on ${name}`).to.be.at.least(4.5);
          }
        }
  });
});

/** Ranges of network addresses: networks in CIDR notation, and single addresses. */
import net from 'node:net';

export function isWithin(address: string, ranges: readonly string[]): boolean {
  const list = new net.BlockList();
  for (const range of ranges) {
    const [base = '', prefix] = range.split('/');
    const family = net.isIPv6(base) ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(base, family);
    else list.addSubnet(base, Number(prefix), family);
  }
  // An IPv4 client of a socket that takes both.
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  return list.check(plain, net.isIPv6(plain) ? 'ipv6' : 'ipv4');
}

/** Is the text an address or a network in CIDR notation? */
export function isAddressRange(text: string): boolean {
  const [base = '', prefix, ...more] = text.split('/');
  const family = net.isIP(base);
  if (family === 0 || more.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128));
}

/** The ranges of a text that has them by commas or spaces, as variables do. */
export function addressRangesOf(text: string): string[] {
  return text.split(/[\s,]+/).filter((part) => part !== '');
}

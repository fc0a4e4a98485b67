'use client';
import { Button } from '@holdfast/ui/button.js';
import { Popover } from '@holdfast/ui/popover.js';
import { CircleUser, LogOut, Moon, Sun } from 'lucide-react';
import Link from 'next/link';
import { useTheme } from 'next-themes';
import { useWhoAmI } from '../api/use-who-am-i';
import { ACCOUNT_PLACES } from '../shared/places';
import { useSignOut } from './use-sign-out';

/** Who is signed in and as what, with the pages of the account, the theme, and the end of the session. */
export function AccountMenu() {
  const { resolvedTheme, setTheme } = useTheme();
  const signOut = useSignOut();
  const theme = resolvedTheme === 'dark' ? 'light' : 'dark';
  return (
    <Popover label="Account" icon={<CircleUser aria-hidden size={16} />}>
      <WhoAmI />
      <nav aria-label="Account" className="my-2 flex flex-col border-y border-border py-1">
        {ACCOUNT_PLACES.map(({ href, label, icon: Icon }) => (
          <Link
            key={href}
            href={href}
            className="flex min-h-8 items-center gap-2.5 rounded-md px-2 hover:bg-hover"
          >
            <Icon aria-hidden size={15} className="text-muted" /> {label}
          </Link>
        ))}
      </nav>
      <div className="flex flex-col">
        <Button variant="ghost" onClick={() => setTheme(theme)} className="justify-start px-2">
          {theme === 'dark' ? <Moon aria-hidden size={15} /> : <Sun aria-hidden size={15} />} Switch to the{' '}
          {theme} theme
        </Button>
        <Button variant="ghost" onClick={() => void signOut()} className="justify-start px-2">
          <LogOut aria-hidden size={15} /> Sign out
        </Button>
      </div>
    </Popover>
  );
}

function WhoAmI() {
  const { data } = useWhoAmI();
  if (data === undefined) return <p className="px-2 text-muted">Not known yet who is signed in.</p>;
  return (
    <div className="px-2 leading-snug">
      <p className="truncate font-medium">{data.name}</p>
      <p className="truncate text-xs text-muted" title={data.email}>
        {data.email}
      </p>
      <p className="truncate text-xs text-muted">
        {data.role} of {data.organizationName}
      </p>
    </div>
  );
}

'use client';
import type { ReactNode } from 'react';
import { OrganizationHeader } from '../../../src/organization/organization-header';
import { OrganizationTabs } from '../../../src/organization/tabs';

export default function OrganizationLayout({ children }: { children: ReactNode }) {
  return (
    <>
      <OrganizationHeader />
      <OrganizationTabs />
      <div className="flex flex-col gap-4">{children}</div>
    </>
  );
}

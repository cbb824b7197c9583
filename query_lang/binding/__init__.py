"""From tree to plan: names, types and domains against one public schema."""

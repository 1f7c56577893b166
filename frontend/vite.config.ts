import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const SERVICE = process.env.DOSEFLOW ?? "http://127.0.0.1:8080";

export default defineConfig({
  base: "/room/",
  plugins: [react()],
  build: {
    outDir: "../doseflow/web/room",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 600,
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    rolldownOptions: {
      input: { room: "index.html", site: "site.html" },
      // Names without digests: what is committed changes only where its content does, and the service compares digests.
      output: {
        entryFileNames: "[name].js",
        chunkFileNames: "[name].js",
        codeSplitting: {
          groups: [
            { name: "react", test: /node_modules\/(react|react-dom|scheduler)\// },
            { name: "charts", test: /node_modules\/(echarts|zrender)\// },
          ],
        },
        assetFileNames: "[name][extname]",
      },
    },
  },
  server: { proxy: { "/api": SERVICE } },
  test: { environment: "jsdom", include: ["src/**/*.test.{ts,tsx}"] },
});

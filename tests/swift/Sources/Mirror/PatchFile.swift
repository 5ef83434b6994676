import Foundation

/// What `patch_file` gives: whether the patch was applied, why not, and what it changed.
public struct PatchFileResult: Decodable {
    public let ok: Bool
    public let error: String?
    public let diff: Diff?

    /// Decodes the echo of a result, which is its JSON text, cut at the preview's limit.
    ///
    /// Throws when it was cut: no decoder can tell what is missing. Naming `patch_file` structural avoids that.
    public init(echo: String) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(echo.utf8))
    }
}

/// The lines that a patch added and removed, as the tool counted them or as its unified diff shows.
public struct Diff: Decodable, Equatable {
    public let added: Int
    public let removed: Int

    enum CodingKeys: CodingKey {
        case added, removed
    }

    public init(from decoder: any Decoder) throws {
        if let text = try? decoder.singleValueContainer().decode(String.self) {
            self.init(unified: text)
        } else {
            let counts = try decoder.container(keyedBy: CodingKeys.self)
            self.init(
                added: try counts.decode(Int.self, forKey: .added),
                removed: try counts.decode(Int.self, forKey: .removed)
            )
        }
    }

    public init(added: Int, removed: Int) {
        self.added = added
        self.removed = removed
    }

    /// Counts the changed lines of a unified diff; its file headers (`+++`, `---`) are none.
    public init(unified text: String) {
        let lines = text.split(separator: "\n")
        self.init(
            added: lines.filter { $0.hasPrefix("+") && !$0.hasPrefix("+++ ") }.count,
            removed: lines.filter { $0.hasPrefix("-") && !$0.hasPrefix("--- ") }.count
        )
    }
}
